//! The conditions of a `when`: compiled from a policy file, and as bytes of an image.

use super::{Condition, EnvPattern, HostList, TextList, TextPattern};
use crate::compile::Compiler;
use crate::image::{Imaged, Reader, fields, put_text};
use crate::past::After;
use crate::pattern::{Glob, HostPattern, canonical_flags, compile_regex, expand_braces};
use crate::rule::Pattern;
use crate::text::{RuleText, Text, When};
use sayso_shell::Verb;
use std::sync::{Arc, OnceLock};

impl Compiler<'_> {
    /// What a `when` states. INVARIANT: a key that is stated is a condition, also where its sets turn out to be empty:
    /// a condition that vanished would widen an allow.
    pub(crate) fn conditions(&mut self, when: &When, rule: &RuleText) -> Arc<[Condition]> {
        let mut conditions = Vec::new();
        for arg in &when.args {
            let list = self.text_list(&arg.patterns);
            conditions.push(Condition::Argument(arg.path.value.clone(), list));
        }
        if !when.actors.is_empty() {
            let any = when.actors.iter().map(|who| who.value.clone()).collect();
            conditions.push(Condition::Actor { any, believes: self.believes });
        }
        if !when.within.is_empty() {
            let patterns = when.within.iter().flat_map(|text| self.patterns(text, Verb::Read));
            let path = |pattern| if let Pattern::Path(path) = pattern { Some(path.with_all_below()) } else { None };
            conditions.push(Condition::Within(patterns.filter_map(path).collect()));
        }
        if !when.flag.is_empty() {
            let (program, words) = program_of(rule);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let flags = when.flag.iter().map(|text| canonical_flags(self.programs, &program, &words, &text.value));
            conditions.push(Condition::Flags(flags.collect()));
        }
        if !when.env.is_empty() {
            let pattern = |text: &Text| match text.value.split_once('=') {
                Some((name, value)) => EnvPattern { name: Glob::new(name), value: Some(Glob::new(value)) },
                None => EnvPattern { name: Glob::new(&text.value), value: None },
            };
            conditions.push(Condition::Env(when.env.iter().map(pattern).collect()));
        }
        if !when.operand.is_empty() {
            conditions.push(Condition::Operand(self.text_list(&when.operand)));
        }
        if !when.piped_to.is_empty() {
            let patterns = when.piped_to.iter().flat_map(|text| self.patterns(text, Verb::Run));
            let run = |pattern| if let Pattern::Run(run) = pattern { Some(run) } else { None };
            conditions.push(Condition::PipedTo(patterns.filter_map(run).collect()));
        }
        if !when.host.is_empty() {
            conditions.push(self.host_list(&when.host));
        }
        conditions.extend(when.build_output.as_ref().map(|wanted| Condition::BuildOutput(wanted.value)));
        conditions.extend(when.stdin_only.as_ref().map(|wanted| Condition::StdinOnly(wanted.value)));
        conditions.extend(when.self_written.as_ref().map(|wanted| Condition::SelfWritten(wanted.value)));
        for (verb, texts) in &when.after {
            conditions.push(Condition::After(self.after(verb.value, texts)));
        }
        conditions.into()
    }

    /// `after.VERB`. Its key is made of what is written, so that what was remembered counts as long as that stays.
    fn after(&mut self, verb: Verb, texts: &[Text]) -> After {
        let mut hasher = blake3::Hasher::new_derive_key("sayso condition on earlier calls");
        let (mut any, mut except) = (Vec::new(), Vec::new());
        for part in std::iter::once(verb.as_str()).chain(texts.iter().map(|text| text.value.as_str())) {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part.as_bytes());
        }
        for text in texts {
            match text.value.strip_prefix('!') {
                Some(rest) => {
                    let inner = Text::new(rest.trim_start().to_owned(), text.span.clone());
                    except.extend(self.patterns(&inner, verb));
                }
                None => any.extend(self.patterns(text, verb)),
            }
        }
        let key = hasher.finalize().to_hex().chars().take(16).collect();
        After { verb, key, any, except, table: OnceLock::new() }
    }

    fn host_list(&mut self, texts: &[Text]) -> Condition {
        let mut list = HostList::default();
        for text in texts {
            for (except, pattern) in self.hosts(text) {
                if except { list.except.push(pattern) } else { list.any.push(pattern) }
            }
        }
        // A list without hosts, but for exceptions, means every host: not so where a set should have given some.
        let means_all = texts.iter().all(|text| text.value.starts_with('!'));
        if list.any.is_empty() && !means_all { Condition::Broken } else { Condition::ConnectsTo(list) }
    }

    fn text_list(&mut self, texts: &[Text]) -> TextList {
        let mut list = TextList::default();
        for text in texts {
            let (except, written) = match text.value.strip_prefix('!') {
                Some(rest) => (true, rest.trim_start()),
                None => (false, text.value.as_str()),
            };
            let compiled = match written.strip_prefix("re:") {
                Some(re) => compile_regex(re).map(|regex| vec![TextPattern::Regex(regex)]),
                None => expand_braces(written)
                    .map(|texts| texts.iter().map(|text| TextPattern::Glob(Glob::new(text))).collect()),
            };
            match compiled {
                Ok(patterns) if except => list.except.extend(patterns),
                Ok(patterns) => list.any.extend(patterns),
                Err(error) => self.complain(&text.span, &error),
            }
        }
        list
    }

    /// The hosts of a condition, each with whether it is an exception.
    fn hosts(&mut self, text: &Text) -> Vec<(bool, HostPattern)> {
        let (except, value) = match text.value.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start().to_owned()),
            None => (false, text.value.clone()),
        };
        let patterns = self.patterns(&Text { value, ..text.clone() }, Verb::Connect);
        let host = |pattern| if let Pattern::Host(host) = pattern { Some((except, host)) } else { None };
        patterns.into_iter().filter_map(host).collect()
    }
}

/// The program and words of a `run` rule's first pattern, by which its flags are spelled.
fn program_of(rule: &RuleText) -> (String, Vec<String>) {
    if rule.verb.value != Verb::Run {
        return (String::new(), Vec::new());
    }
    let text = rule.patterns.first().map(|text| text.value.clone()).unwrap_or_default();
    let first = expand_braces(&text).ok().and_then(|texts| texts.into_iter().next()).unwrap_or_default();
    let mut words = first.split_whitespace().map(str::to_owned);
    (words.next().unwrap_or_default(), words.take_while(|word| !word.starts_with('-')).collect())
}

fields!(TextList { any, except });
fields!(EnvPattern { name, value });
fields!(HostList { any, except });

impl Imaged for After {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { verb, key, any, except, table: _ } = self;
        verb.put(out);
        key.put(out);
        any.put(out);
        except.put(out);
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            verb: Imaged::take(from)?,
            key: Imaged::take(from)?,
            any: Imaged::take(from)?,
            except: Imaged::take(from)?,
            table: OnceLock::new(),
        })
    }
}

/// The conditions of a `when`. Those that only matchers of the library have are in no policy file; should one be here
/// all the same, it is written as one that cannot be read, which allows nothing.
impl Imaged for Condition {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Argument(path, patterns) => {
                out.push(1);
                path.put(out);
                patterns.put(out);
            }
            Self::Actor { any, believes } => {
                put_tagged(2, any, out);
                believes.put(out);
            }
            Self::Within(patterns) => put_tagged(3, patterns, out),
            Self::Flags(flags) => put_tagged(4, flags, out),
            Self::Env(patterns) => put_tagged(5, patterns, out),
            Self::Operand(patterns) => put_tagged(6, patterns, out),
            Self::PipedTo(patterns) => put_tagged(7, patterns, out),
            Self::ConnectsTo(hosts) => put_tagged(8, hosts, out),
            Self::StdinOnly(wanted) => put_tagged(9, wanted, out),
            Self::BuildOutput(wanted) => put_tagged(10, wanted, out),
            Self::After(after) => put_tagged(11, after, out),
            Self::SelfWritten(wanted) => put_tagged(12, wanted, out),
            _ => out.push(0),
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Broken,
            1 => Self::Argument(Imaged::take(from)?, Imaged::take(from)?),
            2 => Self::Actor { any: Imaged::take(from)?, believes: Imaged::take(from)? },
            3 => Self::Within(Imaged::take(from)?),
            4 => Self::Flags(Imaged::take(from)?),
            5 => Self::Env(Imaged::take(from)?),
            6 => Self::Operand(Imaged::take(from)?),
            7 => Self::PipedTo(Imaged::take(from)?),
            8 => Self::ConnectsTo(Imaged::take(from)?),
            9 => Self::StdinOnly(Imaged::take(from)?),
            10 => Self::BuildOutput(Imaged::take(from)?),
            11 => Self::After(Imaged::take(from)?),
            12 => Self::SelfWritten(Imaged::take(from)?),
            _ => return None,
        })
    }
}

fn put_tagged(tag: u8, value: &impl Imaged, out: &mut Vec<u8>) {
    out.push(tag);
    value.put(out);
}

impl Imaged for TextPattern {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Glob(glob) => {
                out.push(0);
                glob.put(out);
            }
            Self::Regex(regex) => {
                out.push(1);
                put_text(regex.as_str(), out);
            }
        }
    }
    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Glob(Glob::take(from)?),
            1 => Self::Regex(compile_regex(from.text()?).ok()?),
            _ => return None,
        })
    }
}
