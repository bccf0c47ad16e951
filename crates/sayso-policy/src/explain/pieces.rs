//! The pieces of a command that can be taken away one at a time: flags, redirects, assignments, operands.

use sayso_shell::syntax::tree::{Command, CommandKind, Compound, CompoundKind, Few, List, Redirect, Simple};
use sayso_shell::syntax::{self, Options};
use sayso_shell::{Analysis, Dialect, Run, Span};
use std::collections::BTreeSet;

/// What kind of piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An option, with its value where that is a word of its own.
    Flag,
    /// A redirect.
    Redirect,
    /// An assignment before a program.
    Assignment,
    /// An operand.
    Operand,
}

/// A piece of a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// All pieces, in order of appearance, each once.
#[must_use]
pub(super) fn pieces(text: &[u8], analysis: &Analysis) -> Vec<Piece> {
    let mut found = BTreeSet::new();
    if let Ok(tree) = syntax::parse(text, Dialect::Bash, Options::default()) {
        list(&tree.body, &mut found);
    }
    // A program's own name is no operand of the wrapper before it: `sudo rm x` without `rm` is another command.
    let names: BTreeSet<Span> = analysis.runs.iter().filter_map(|run| run.spans.first().copied()).collect();
    for run in &analysis.runs {
        words(run, &names, text, &mut found);
    }
    found.into_iter().filter(|piece| piece.span.start < piece.span.end).collect()
}

fn words(run: &Run, names: &BTreeSet<Span>, text: &[u8], found: &mut BTreeSet<Piece>) {
    for option in run.options.iter().filter(|option| !option.implied) {
        found.insert(Piece { span: option.span, kind: Kind::Flag });
        cluster(option.span, text, found);
    }
    let operands = run.words.iter().skip(usize::from(run.subcommands));
    for span in operands.filter_map(|index| run.spans.get(usize::from(*index))) {
        if !names.contains(span) {
            found.insert(Piece { span: *span, kind: Kind::Operand });
        }
    }
}

/// The letters of `-rf`, one by one.
fn cluster(span: Span, text: &[u8], found: &mut BTreeSet<Piece>) {
    let Some(word) = text.get(super::effect::bytes_of(span)) else { return };
    if word.len() > 2 && word.len() < 9 && word.starts_with(b"-") && word.iter().skip(1).all(u8::is_ascii_alphabetic) {
        for start in span.start + 1..span.end {
            found.insert(Piece { span: Span { start, end: start + 1 }, kind: Kind::Flag });
        }
    }
}

/// INVARIANT: the depth of this recursion is bounded by the parser's own limit on nesting.
fn list(list: &List<'_>, found: &mut BTreeSet<Piece>) {
    for item in list.items.iter() {
        let pipelines = std::iter::once(&item.and_or.first).chain(item.and_or.rest.iter().map(|(_, p)| p));
        for pipeline in pipelines {
            commands(&pipeline.commands, found);
        }
    }
}

fn commands(commands: &Few<Command<'_>>, found: &mut BTreeSet<Piece>) {
    for command in commands.iter() {
        match &command.kind {
            CommandKind::Simple(it) => simple(it, found),
            CommandKind::Compound(it) => compound(it, found),
            CommandKind::Function(it) => compound(&it.body, found),
            CommandKind::Coproc(it) => commands_of_coproc(&it.command, found),
        }
    }
}

fn commands_of_coproc(command: &Command<'_>, found: &mut BTreeSet<Piece>) {
    match &command.kind {
        CommandKind::Simple(it) => simple(it, found),
        CommandKind::Compound(it) => compound(it, found),
        CommandKind::Function(_) | CommandKind::Coproc(_) => {}
    }
}

fn simple(simple: &Simple<'_>, found: &mut BTreeSet<Piece>) {
    // Without a word after them assignments are the command itself.
    if !simple.words.is_empty() {
        found.extend(simple.assignments.iter().map(|it| Piece { span: it.span, kind: Kind::Assignment }));
    }
    redirects(&simple.redirects, found);
}

fn redirects(redirects: &[Redirect<'_>], found: &mut BTreeSet<Piece>) {
    use sayso_shell::syntax::tree::RedirectTarget;
    // A here-document's text stands elsewhere and would be left over as commands.
    let plain = redirects.iter().filter(|it| matches!(it.target, RedirectTarget::Word(_)));
    found.extend(plain.map(|it| Piece { span: it.span, kind: Kind::Redirect }));
}

fn compound(compound: &Compound<'_>, found: &mut BTreeSet<Piece>) {
    redirects(&compound.redirects, found);
    match &compound.kind {
        CompoundKind::Group(body) | CompoundKind::Subshell(body) => list(body, found),
        CompoundKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                list(condition, found);
                list(body, found);
            }
            otherwise.iter().for_each(|body| list(body, found));
        }
        CompoundKind::While { condition, body, .. } => {
            list(condition, found);
            list(body, found);
        }
        CompoundKind::For { body, .. } | CompoundKind::ForArithmetic { body, .. } => list(body, found),
        CompoundKind::Case { arms, .. } => arms.iter().for_each(|arm| list(&arm.body, found)),
        CompoundKind::Arithmetic(_) | CompoundKind::Condition(_) => {}
    }
}
