//! Patterns as bytes of an image. A regular expression is kept as its text, and compiled when its rule is read.

use super::command::{CommandPattern, FlagPattern, ProgramPattern};
use super::path::{Anchor, Component, Components};
use super::{Glob, HostPattern, PathPattern, RunKind, RunPattern, ToolPattern, compile_regex, path};
use crate::image::{Imaged, Reader, choice, fields, put_text};

choice!(RunKind { 0 => Self::Builds, 1 => Self::Scripts, 2 => Self::Code });
choice!(Anchor { 0 => Self::Workspace, 1 => Self::Home, 2 => Self::Root });
fields!(Components { anchor, list });
fields!(CommandPattern { program, words, flags });
fields!(FlagPattern { name, value });

impl Imaged for Glob {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self.as_str(), out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        from.text().map(Self::new)
    }
}

impl Imaged for Component {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Deep => out.push(0),
            Self::One(glob) => {
                out.push(1);
                glob.put(out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Deep,
            1 => Self::One(Imaged::take(from)?),
            _ => return None,
        })
    }
}

impl Imaged for PathPattern {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Anything => out.push(0),
            Self::Components(components) => {
                out.push(1);
                components.put(out);
            }
            Self::Regex(regex) => {
                out.push(2);
                put_text(regex.as_str(), out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Anything,
            1 => Self::Components(Imaged::take(from)?),
            2 => Self::Regex(path::compile_regex(from.text()?).ok()?),
            _ => return None,
        })
    }
}

impl Imaged for ProgramPattern {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Any => out.push(0),
            Self::Name(glob) => {
                out.push(1);
                glob.put(out);
            }
            Self::Path(pattern) => {
                out.push(2);
                pattern.put(out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Any,
            1 => Self::Name(Imaged::take(from)?),
            2 => Self::Path(Imaged::take(from)?),
            _ => return None,
        })
    }
}

impl Imaged for RunPattern {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Anything => out.push(0),
            Self::Pipe(stages) => {
                out.push(1);
                stages.put(out);
            }
            Self::Regex(regex) => {
                out.push(2);
                put_text(regex.as_str(), out);
            }
            Self::Kind(kind) => {
                out.push(3);
                kind.put(out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Anything,
            1 => Self::Pipe(Imaged::take(from)?),
            2 => Self::Regex(compile_regex(from.text()?).ok()?),
            3 => Self::Kind(Imaged::take(from)?),
            _ => return None,
        })
    }
}

impl Imaged for HostPattern {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Anything => out.push(0),
            Self::Name { host, port } => {
                out.push(1);
                host.put(out);
                port.put(out);
            }
            Self::Regex(regex) => {
                out.push(2);
                put_text(regex.as_str(), out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Anything,
            1 => Self::Name { host: Imaged::take(from)?, port: Imaged::take(from)? },
            2 => Self::Regex(compile_regex(from.text()?).ok()?),
            _ => return None,
        })
    }
}

impl Imaged for ToolPattern {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Anything => out.push(0),
            Self::Name(glob) => {
                out.push(1);
                glob.put(out);
            }
            Self::Regex(regex) => {
                out.push(2);
                put_text(regex.as_str(), out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Anything,
            1 => Self::Name(Imaged::take(from)?),
            2 => Self::Regex(compile_regex(from.text()?).ok()?),
            _ => return None,
        })
    }
}
