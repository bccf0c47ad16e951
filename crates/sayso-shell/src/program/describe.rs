//! From words to a description, by the program's table.

use super::path::is_stream;
use super::view::may_split;
use super::{
    Absent, Act, Code, Description, Invocation, Role, Spec, View, address, environment, hidden, index, lister, project,
    unknown,
};
use crate::effect::{Carry, NamedBy, PathTarget, Target, Verb};
use crate::files::Kind;
use crate::option::{Does, Reader, Seen, Step, Style, Tables};
use crate::word::Word;
use std::borrow::Cow;

/// What a program makes of its words.
#[must_use]
pub fn describe(inv: &Invocation<'_>) -> Description {
    let mut description = match inv.programs.find(inv.name) {
        // A lone `--help` prints and ends, whatever the program does otherwise.
        found if asks_for_help(inv) => {
            let mut description = help(inv);
            if let Some((_, spec)) = found {
                project::asked(spec, inv, &mut description);
            }
            description
        }
        Some((name, spec)) => by_table(name, spec, inv),
        None => unknown::describe(inv),
    };
    environment::add_effects(inv, &mut description);
    description
}

fn asks_for_help(inv: &Invocation<'_>) -> bool {
    matches!(inv.argv, [_, only] if matches!(only.exact(), Some(b"--help" | b"--version")))
}

fn help(inv: &Invocation<'_>) -> Description {
    let mut out = unknown::describe(inv);
    out.options.iter_mut().for_each(|option| option.known = true);
    out
}

pub(crate) fn by_table(name: &'static str, root: &'static Spec, inv: &Invocation<'_>) -> Description {
    let mut view = View {
        inv,
        name,
        root,
        spec: root,
        path: Vec::new(),
        base: inv.cwd.map(Cow::Borrowed),
        deep: false,
        terminator: None,
        out: Description::default(),
        seen: Vec::new(),
    };
    if !root.style.has(Style::RAW) {
        read_words(&mut view);
        if asks_only(inv) && !root.style.has(Style::LENIENT) {
            // `prog --help` and nothing else: it prints and ends.
            project::add(&mut view);
            view.out.options = written(view.seen);
            return view.out;
        }
        options(&mut view);
        acts(&mut view);
        operands(&mut view);
    }
    if let Some(judge) = view.spec.judge {
        judge(&mut view);
    }
    if let Some(always) = root.always {
        always(&mut view);
    }
    project::add(&mut view);
    lister::keep(&mut view);
    if root.style.has(Style::PASSES) {
        hidden::written(&mut view);
    }
    // Of a program that its owner describes, nobody has looked at every word.
    let described = view.inv.programs.taught(view.name).is_some_and(|taught| !taught.is_known());
    if described || index::takes_addresses(view.name, root) {
        address::reached(&mut view);
    }
    let View { seen, mut out, .. } = view;
    out.options = written(seen);
    out
}

/// What stays of the options. Not collected: that would shrink what it takes them from, which costs more than room anew.
fn written(seen: Vec<Seen>) -> Vec<crate::effect::Opt> {
    let mut options = Vec::with_capacity(seen.len());
    options.extend(seen.into_iter().map(|seen| seen.opt));
    options
}

fn asks_only(inv: &Invocation<'_>) -> bool {
    matches!(inv.argv, [_, question] if matches!(question.exact(), Some(b"--help" | b"--version")))
}

/// Tells options, subcommands and operands apart.
fn read_words(view: &mut View<'_>) {
    let inv = view.inv;
    let root = view.root;
    let mut tables = Tables { near: root.options, far: &[], root: &[] };
    let mut reader = Reader::new(inv.argv, inv.spans);
    let mut risky_and_open = false;
    let mut choosing = !root.subs.is_empty();
    loop {
        match reader.step(tables, view.spec.style) {
            Step::Done => break,
            Step::Options => {}
            Step::Operand(at) => {
                let at16 = u16::try_from(at).unwrap_or(u16::MAX);
                view.out.words.push(at16);
                if !choosing {
                    continue;
                }
                let word = inv.argv.get(at);
                let sub = word.and_then(Word::exact_str).and_then(|name| view.spec.sub(name));
                let Some((sub, name)) = sub else {
                    choosing = false;
                    if !view.spec.style.has(Style::FREE) {
                        no_such_subcommand(view, at);
                    }
                    continue;
                };
                risky_and_open |= reader.open && is_risky(view.spec, tables);
                tables = Tables {
                    near: sub.options,
                    far: if view.spec.style.has(Style::GLOBAL) { view.spec.options } else { &[] },
                    root: if root.style.has(Style::GLOBAL) && view.out.subcommands > 0 { root.options } else { &[] },
                };
                view.out.subcommands = view.out.subcommands.saturating_add(1);
                view.path.push(name);
                view.spec = sub;
                choosing = !sub.subs.is_empty();
                reader.ended = reader.terminator.is_some();
            }
        }
    }
    let open = reader.open || reader.open_glob && dashed_name_may_exist(inv);
    risky_and_open |= open && is_risky(view.spec, tables);
    view.out.open_options = open;
    view.terminator = reader.terminator;
    view.seen = reader.seen;
    if risky_and_open {
        view.named(Code::DynamicOption, NamedBy::Nothing, 0);
        let text = format!("a word of unknown value may be an option of {} that matters", view.name);
        view.doubt(Code::DynamicOption, text, 0);
    }
}

fn is_risky(spec: &Spec, tables: Tables) -> bool {
    spec.style.has(Style::RISKY) || tables.risky()
}

/// A file whose name begins with a dash is an option to a program that gets it from `*`.
pub(crate) fn dashed_name_may_exist(inv: &Invocation<'_>) -> bool {
    const MANY: usize = 10_000;
    let Some(cwd) = inv.cwd else { return true };
    match inv.files.list(cwd, MANY) {
        Some(names) => names.iter().any(|n| n.as_encoded_bytes().starts_with(b"-")),
        None => inv.files.kind(cwd) != Kind::Missing,
    }
}

fn no_such_subcommand(view: &mut View<'_>, at: usize) {
    let word = view.word(at).and_then(Word::exact_str);
    let by = match word {
        Some(word) => {
            let leading = view.path.iter().map(|&w| w.to_owned());
            NamedBy::Words(leading.chain([word.to_owned()]).collect())
        }
        None => NamedBy::Nothing,
    };
    let shown = word.unwrap_or("a word of unknown value");
    let text = format!("{} has no subcommand {shown:?} that is known here", view.name);
    view.named(Code::UnknownSubcommand, by, at);
    view.doubt(Code::UnknownSubcommand, text, at);
}

fn options(view: &mut View<'_>) {
    let mut seen = std::mem::take(&mut view.seen);
    let harmless = view.spec.style.has(Style::HARMLESS);
    for Seen { opt, does, at } in &mut seen {
        let at = *at;
        if *does == Does::Implied {
            view.named(Code::UnknownOption, NamedBy::Nothing, at);
            let text = format!("{} is a fact that Sayso finds, and no option of {}", opt.name, view.name);
            view.doubt(Code::UnknownOption, text, at);
            continue;
        }
        if !opt.known {
            opt.known = harmless;
            if !harmless {
                view.named_by_flag(Code::UnknownOption, &opt.name, at);
                let text = format!("{} has no option {} that is known here", view.name, opt.name);
                view.doubt(Code::UnknownOption, text, at);
            }
            continue;
        }
        option(view, *does, &opt.name, opt.value.as_ref(), at);
    }
    // No rule may take such a word for the fact.
    seen.retain(|seen| seen.does != Does::Implied);
    // What a judge implied meanwhile stays behind what was written.
    let implied = std::mem::replace(&mut view.seen, seen);
    view.seen.extend(implied);
}

/// Options whose file holds the names of others.
const LISTS: &[&str] = &["--files0-from", "--files-from", "--files", "--files0", "--filelist"];

fn option(view: &mut View<'_>, does: Does, name: &str, value: Option<&Word>, at: usize) {
    let named = |code: Code| Carry::Named { code, by: NamedBy::Flag(name.to_owned()) };
    match (does, value) {
        (Does::Nothing | Does::Last | Does::Implied, _) => {}
        (Does::Deep, _) => view.deep = true,
        (Does::Named(code), _) => view.named_by_flag(code, name, at),
        (Does::Runs, _) => view.named_by_flag(Code::RunsCommand, name, at),
        (Does::Inline, _) => {
            view.code(view.name, Code::InlineCode, NamedBy::Flag(name.to_owned()), at);
        }
        (Does::Wipes, _) => {
            view.named_by_flag(Code::ChangesFiles, name, at);
            if let Some(value) = value {
                view.path_effect(Verb::Delete, value, at, true, named(Code::ChangesFiles));
                view.path_effect(Verb::Write, value, at, true, named(Code::WritesFile));
            }
        }
        (Does::Writes | Does::WritesBelow, None) => view.named_by_flag(Code::WritesFile, name, at),
        // Without a file, the names come from standard input.
        (Does::Reads, None) if LISTS.contains(&name) => {
            view.effect(Verb::Read, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain);
        }
        (_, None) => {}
        (Does::Reads, Some(value)) => {
            if LISTS.contains(&name) && !matches!(view.name, "du" | "rsync" | "rclone" | "tar") {
                // The files that the list names are read too.
                view.effect(Verb::Read, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain);
            }
            if value.exact() != Some(b"-") {
                view.path_effect(Verb::Read, value, at, false, Carry::Plain);
            }
        }
        (Does::ReadsBelow, Some(value)) => view.reads_below(value, at),
        (Does::Makes, Some(value)) => view.path_effect(Verb::Write, value, at, false, Carry::Plain),
        (Does::MakesBelow, Some(value)) => view.writes_below(value, at),
        (Does::Writes, Some(value)) => view.path_effect(Verb::Write, value, at, false, named(Code::WritesFile)),
        (Does::WritesBelow, Some(value)) => view.path_effect(Verb::Write, value, at, true, named(Code::WritesFile)),
        (Does::Connects, Some(value)) => view.connects(value, at),
        (Does::Redirects, Some(value)) => {
            let target = Target::Host(super::host::of_word(value));
            view.effect(Verb::Connect, target, at, named(Code::OtherHost));
        }
        (Does::Recipe, Some(value)) => {
            if view.is_address(value) {
                view.connects(value, at);
                view.named_by_flag(Code::RunsCode, name, at);
            } else if value.exact().is_some_and(|value| value == b"-" || is_stream(value)) {
                // What runs comes in with the call.
                view.code(view.name, Code::InlineCode, NamedBy::Flag(name.to_owned()), at);
            } else {
                view.path_effect(Verb::Read, value, at, false, Carry::Plain);
                if !view.is_of_the_project(value) {
                    view.named_by_flag(Code::RunsCode, name, at);
                }
            }
        }
        (Does::RunsPath, Some(value)) => {
            if value.exact().is_none_or(|text| text.contains(&b'/')) {
                view.named_by_flag(Code::RunsCommand, name, at);
            }
        }
        (Does::Shell, Some(value)) => view.starts_shell(value.clone(), at),
        (Does::Command, Some(_)) => {
            let joined = view.word(at).and_then(Word::exact).is_some_and(|w| w.starts_with(b"--") && w.contains(&b'='));
            view.starts_words(at + 1);
            if joined {
                // `--exec=prog`: nobody writes it so; what it would run is not told apart.
                view.named_by_flag(Code::RunsCommand, name, at);
            }
        }
        (Does::Cd, Some(value)) => {
            view.reads_below(value, at);
            view.base = match value.exact() {
                Some(bytes) => Some(Cow::Owned(super::path::join(view.base.as_deref(), bytes))),
                None => None,
            };
        }
    }
}

fn acts(view: &mut View<'_>) {
    for act in view.spec.acts {
        match *act {
            Act::Named(code) => view.named_by_words(code),
            Act::NamedUnless(code, flags) => {
                if !view.has_any(flags) {
                    view.named_by_words(code);
                }
            }
            Act::Connects(label) => view.connects_configured(label, 0),
            Act::Reads(path) => view.touches(Verb::Read, path, false),
            Act::Writes(path) => view.touches(Verb::Write, path, false),
            Act::WritesBelow(path) => view.touches(Verb::Write, path, true),
            Act::Builds | Act::Project | Act::ProjectIf(_) => {}
            Act::Code(language) => {
                let by = view.by_words();
                view.code(language, Code::RunsCode, by, 0);
            }
        }
    }
}

fn operands(view: &mut View<'_>) {
    let roles = view.spec.operands;
    let count = view.operand_count();
    if count == 0 {
        match roles.absent {
            Absent::ReadsHere => match roles.rest {
                Role::Sources(suffixes) => view.reads_sources(&Word::Exact(".".into()), 0, suffixes),
                _ => view.touches(Verb::Read, ".", true),
            },
            Absent::NamesHere => view.touches(Verb::Read, ".", false),
            Absent::ReadsHereIfDeep if view.deep => view.touches(Verb::Read, ".", true),
            _ => {}
        }
        return;
    }
    if count <= roles.first.len() && roles.absent == Absent::ReadsHereIfDeep && view.deep {
        view.touches(Verb::Read, ".", true);
    }
    for n in 0..count {
        let Some(at) = view.operand_at(n) else { continue };
        let Some(word) = view.word(at) else { continue };
        let by_place = roles.first.get(n).copied();
        let role = match (by_place, roles.last) {
            (Some(role), _) => role,
            (None, Some(last)) if n + 1 == count => last,
            _ => roles.rest,
        };
        operand(view, role, word, at);
        if role != roles.rest && may_split(word) {
            operand(view, roles.rest, word, at);
        }
    }
}

/// What one operand does by its role.
fn operand(view: &mut View<'_>, role: Role, word: &Word, at: usize) {
    match role {
        Role::Text => {}
        Role::Read => view.reads(word, at),
        Role::ReadBelow => {
            if word.exact() != Some(b"-") {
                view.reads_matching(word, at);
            }
        }
        Role::Sources(suffixes) => {
            if word.exact() != Some(b"-") {
                view.reads_sources(word, at, suffixes);
            }
        }
        Role::Write => view.writes(word, at),
        Role::WriteBelow => view.writes_below(word, at),
        Role::WriteNamed => {
            let carry = Carry::Named { code: Code::WritesFile, by: NamedBy::Nothing };
            view.path_effect(Verb::Write, word, at, false, carry);
        }
        Role::Edit => {
            view.reads(word, at);
            view.writes(word, at);
        }
        Role::Delete => view.deletes(word, at),
        Role::Move => {
            if !word.exact().is_some_and(is_stream) {
                let target = view.path_of(word, true);
                view.effect(Verb::Read, Target::Path(target.clone()), at, Carry::Plain);
                view.effect(Verb::Delete, Target::Path(target), at, Carry::Plain);
            }
        }
        Role::Host => view.connects(word, at),
    }
}
