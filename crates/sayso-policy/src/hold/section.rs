//! `[hold]` of a file, with what its presets say as its defaults.

use crate::compile::Compiler;
use crate::pattern::{Glob, HostPattern, PathPattern, RunPattern};
use crate::rule::Pattern;
use crate::text::{Caches, Text};
use crate::word::Source;
use sayso_shell::Verb;
use sayso_shell::bounds::{Leave, Need};

/// `[hold]`, compiled.
#[derive(Debug)]
pub(crate) struct HoldSection {
    /// False for an untrusted project file: it lifts nothing, and what it says can only narrow the bounds.
    pub lifts: bool,
    pub run: Vec<RunPattern>,
    pub run_except: Vec<RunPattern>,
    /// What is allowed anyway is held too.
    pub always: bool,
    pub need: Need,
    /// `None`: what the rules allow to be written.
    pub write: Option<WriteList>,
    pub caches: Caches,
    pub connect: Vec<Placed<HostPattern>>,
    pub connect_except: Vec<HostPattern>,
    /// Names of variables.
    pub env: Vec<Glob>,
    pub leave: Leave,
}

/// Folders that may be written, but for some.
#[derive(Clone, Debug)]
pub(crate) struct WriteList {
    pub any: Vec<Placed<PathPattern>>,
    pub except: Vec<Placed<PathPattern>>,
}

/// A pattern and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Placed<P> {
    pub pattern: P,
    pub written: String,
    pub source: Source,
}

/// What one text says, key by key; `None` where it says nothing.
#[derive(Default)]
pub(crate) struct Parts {
    run: Option<(Vec<RunPattern>, Vec<RunPattern>)>,
    always: Option<bool>,
    need: Option<Need>,
    write: Option<WriteList>,
    caches: Option<Caches>,
    connect: Option<(Vec<Placed<HostPattern>>, Vec<HostPattern>)>,
    env: Option<Vec<Glob>>,
    leave: Option<Leave>,
}

/// Compiles the section of a file or preset.
pub(crate) fn compile(compiler: &mut Compiler<'_>) -> Option<Parts> {
    let text = compiler.file.hold.as_ref()?;
    let run = |compiler: &mut Compiler<'_>| {
        let (any, except) = split(compiler, &text.run, Verb::Run);
        let run = |placed: Placed<Pattern>| if let Pattern::Run(run) = placed.pattern { Some(run) } else { None };
        (any.into_iter().filter_map(run).collect(), except.into_iter().filter_map(run).collect())
    };
    let write = |compiler: &mut Compiler<'_>| {
        let (any, except) = split(compiler, &text.write, Verb::Write);
        let path = |placed: Placed<Pattern>| match placed.pattern {
            Pattern::Path(pattern) => Some(Placed { pattern, written: placed.written, source: placed.source }),
            _ => None,
        };
        WriteList {
            any: any.into_iter().filter_map(path).collect(),
            except: except.into_iter().filter_map(path).collect(),
        }
    };
    let connect = |compiler: &mut Compiler<'_>| {
        let (any, except) = split(compiler, &text.connect, Verb::Connect);
        let host = |placed: Placed<Pattern>| match placed.pattern {
            Pattern::Host(pattern) => Some(Placed { pattern, written: placed.written, source: placed.source }),
            _ => None,
        };
        let bare = |placed| host(placed).map(|placed| placed.pattern);
        (any.into_iter().filter_map(host).collect(), except.into_iter().filter_map(bare).collect())
    };
    Some(Parts {
        run: (!text.run.is_empty()).then(|| run(compiler)),
        always: text.always.as_ref().map(|always| always.value),
        need: text.need.as_ref().map(|need| need.value),
        write: (!text.write.is_empty()).then(|| write(compiler)),
        caches: text.caches.as_ref().map(|caches| caches.value),
        connect: (!text.connect.is_empty()).then(|| connect(compiler)),
        env: (!text.env.is_empty()).then(|| text.env.iter().map(|name| Glob::new(&name.value)).collect()),
        leave: text.leave.as_ref().map(|leave| leave.value),
    })
}

/// The patterns of a list, and its exceptions.
fn split(compiler: &mut Compiler<'_>, texts: &[Text], verb: Verb) -> (Vec<Placed<Pattern>>, Vec<Placed<Pattern>>) {
    let (mut any, mut except) = (Vec::new(), Vec::new());
    for text in texts {
        let (inner, into) = match text.value.strip_prefix('!') {
            Some(rest) => (Text::new(rest.trim_start().to_owned(), text.span.clone()), &mut except),
            None => (text.clone(), &mut any),
        };
        let source = compiler.file.source(&text.span);
        let patterns = compiler.patterns(&inner, verb);
        into.extend(patterns.into_iter().map(|pattern| Placed {
            pattern,
            written: text.value.clone(),
            source: source.clone(),
        }));
    }
    (any, except)
}

impl HoldSection {
    /// The file's own section, with those of its presets for what it leaves open; `None`: there is none.
    pub(crate) fn of(own: Option<Parts>, presets: Vec<Parts>, trusted: bool) -> Option<Self> {
        if own.is_none() && presets.is_empty() {
            return None;
        }
        let all = own.into_iter().chain(presets).fold(Parts::default(), Parts::or);
        let (run, run_except) = all.run.unwrap_or_default();
        let (connect, connect_except) = all.connect.unwrap_or_default();
        Some(Self {
            lifts: trusted,
            run,
            run_except,
            always: all.always.unwrap_or_default(),
            need: all.need.unwrap_or_default(),
            write: all.write,
            caches: all.caches.unwrap_or_default(),
            connect,
            connect_except,
            env: all.env.unwrap_or_default(),
            leave: all.leave.unwrap_or(Leave::Session),
        })
    }
}

impl Parts {
    /// What this says, and for the rest what the other says.
    fn or(self, other: Self) -> Self {
        Self {
            run: self.run.or(other.run),
            always: self.always.or(other.always),
            need: self.need.or(other.need),
            write: self.write.or(other.write),
            caches: self.caches.or(other.caches),
            connect: self.connect.or(other.connect),
            env: self.env.or(other.env),
            leave: self.leave.or(other.leave),
        }
    }
}
