//! Variables beyond the well-known ones: what names a file to write, what runs code, and what nobody knows.

use super::built::{ENV_BEGINS, ENV_BY_NAME, ENV_ENDS};
use super::path::is_stream;
use super::text::Env;
use super::{Code, Description, Facets, Invocation, facets, index, path_target};
use crate::effect::{Carry, Effect, NamedBy, Target, Verb};
use crate::word::Word;
use crate::{Doubt, effect::Span};

/// What the texts say of a variable, a bit for each [`Env`].
pub(super) fn said_of(name: &str) -> u8 {
    let by_name = ENV_BY_NAME.find(name).map_or(0, |bits| bits as u8);
    let begins = ENV_BEGINS.iter().filter(|(begin, _)| name.starts_with(begin));
    let ends = ENV_ENDS.iter().filter(|(end, _)| name.ends_with(end));
    // npm takes its settings in any case.
    let npm = name.get(..11).is_some_and(|begin| begin.eq_ignore_ascii_case("npm_config_"));
    let all = begins.chain(ends).fold(by_name, |all, (_, bits)| all | bits);
    if npm { all | Env::ChangesWhatRuns as u8 } else { all }
}

/// Whether some program writes where this variable says.
#[must_use]
pub fn names_output(name: &str) -> bool {
    said_of(name) & (Env::Writes as u8 | Env::WritesBelow as u8) != 0
}

/// Whether what it names is a folder, below which files are written.
pub(super) fn is_folder(name: &str) -> bool {
    said_of(name) & Env::WritesBelow as u8 != 0
}

/// A registry or a proxy that a variable names is connected to.
pub(super) fn connects(inv: &Invocation<'_>, value: &Word, description: &mut Description) {
    for target in value.exact_str().map_or_else(Vec::new, super::address::addresses) {
        description.effects.push(Effect {
            verb: Verb::Connect,
            target: Target::Host(target),
            span: inv.spans.first().copied().unwrap_or_default(),
            run: Some(inv.run),
            carry: Carry::Plain,
            certain: true,
        });
    }
}

/// The files that a variable tells the program to write.
pub(super) fn written(inv: &Invocation<'_>, name: &str, value: &Word, below: bool, out: &mut Description) {
    let words: Vec<Word> = match value.exact() {
        // `DEPENDENCIES_OUTPUT="file target"`: whichever of them is the file.
        Some(bytes) => {
            let parts = bytes.split(u8::is_ascii_whitespace);
            let named = parts.filter(|part| !part.is_empty() && *part != b"-" && !is_stream(part));
            named.map(|part| Word::Exact(part.into())).collect()
        }
        None => vec![value.clone()],
    };
    for word in words {
        out.effects.push(Effect {
            verb: Verb::Write,
            target: Target::Path(path_target(&word, inv.cwd, below)),
            span: span(inv),
            run: Some(inv.run),
            carry: Carry::Named { code: Code::WritesFile, by: NamedBy::Env(name.to_owned()) },
            certain: true,
        });
    }
}

/// Whether nobody fears a variable, whatever it holds.
fn is_ordinary(name: &str) -> bool {
    said_of(name) & Env::Ordinary as u8 != 0
}

/// Whether any variable may be meant for the program of this name.
fn takes_variables(name: &str) -> bool {
    facets(name).has(Facets::TAKES_VARIABLES) || name.starts_with("python")
}

/// Whether a value may name a program, options or a file that can be chosen by whoever wrote the command.
fn is_telling(value: &Word, inv: &Invocation<'_>) -> bool {
    let Some(text) = value.exact() else {
        return !matches!(value, Word::Dynamic(shape) if shape.origin.is_number());
    };
    let signs = text.iter().any(|b| b";|&$`<>!\n".contains(b));
    let address = text.windows(3).any(|three| three == b"://");
    let url = address && std::str::from_utf8(text).is_ok_and(is_address_of_another);
    if address && !url {
        return false;
    }
    // `-3` is a number.
    let options = matches!(text, [b'-', next, ..] if !next.is_ascii_digit());
    let system = [&b"/usr/"[..], b"/etc/", b"/opt/", b"/bin/", b"/lib/", b"/dev/"];
    let path = text.contains(&b'/') && !address && !system.iter().any(|folder| text.starts_with(folder));
    let exists = || {
        let found = inv.cwd.map(|cwd| inv.files.kind(&super::join(Some(cwd), text)));
        found.is_some_and(|kind| !matches!(kind, crate::files::Kind::Missing | crate::files::Kind::Unknown))
    };
    !text.is_empty() && (url || signs || options || path || text.len() < 256 && exists())
}

/// Whether a value is the address of another machine, which a program may be led to by it.
fn is_address_of_another(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = place.rsplit('@').next().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|v6| v6.split(']').next()).or_else(|| host.split(':').next());
    !matches!(host, Some("localhost" | "127.0.0.1" | "0.0.0.0" | "::1"))
}

/// A variable that nobody knows, before a program that runs no code of the project: why is it set?
pub(super) fn is_strange(inv: &Invocation<'_>, name: &str, value: &Word, description: &Description) -> bool {
    !description.transparent
        && description.starts.is_empty()
        && !is_ordinary(name)
        && !takes_variables(inv.name)
        && index::find(inv.name).is_some()
        && is_telling(value, inv)
}

/// Whether a recipe that uses the variable would run its value: make expands `$(shell ..)` in it, and puts it into the
/// text of a command as `just` and `task` do.
pub(super) fn is_recipe(inv: &Invocation<'_>, value: &Word) -> bool {
    pastes_variables(inv.name) && value.exact().is_some_and(holds_command)
}

/// Whether compose puts the variable into its file, where it may be a folder of this machine, an image or a command.
pub(super) fn fills_in(inv: &Invocation<'_>, name: &str, description: &Description) -> bool {
    const TELLS: &[&str] =
        &["events", "images", "kill", "logs", "ls", "port", "ps", "stats", "top", "version", "volumes"];
    let mut words = description.words.iter().map(|&at| inv.argv.get(usize::from(at)).and_then(Word::exact_str));
    let compose = match inv.name {
        "docker-compose" | "podman-compose" => true,
        "docker" | "podman" | "nerdctl" => words.next() == Some(Some("compose")),
        _ => false,
    };
    compose && said_of(name) == 0 && !words.next().flatten().is_some_and(|sub| TELLS.contains(&sub))
}

/// Whether these words may call compose, which puts variables into its file.
pub(crate) fn fills_in_variables(program: &str, argv: &[Word]) -> bool {
    match program {
        "docker-compose" | "podman-compose" => true,
        "docker" | "podman" | "nerdctl" => {
            argv.iter().skip(1).any(|word| word.exact_str().is_none_or(|word| word == "compose"))
        }
        _ => false,
    }
}

/// Whether the program puts variables of its environment into the text of commands.
pub(crate) fn pastes_variables(program: &str) -> bool {
    matches!(program, "make" | "gmake" | "just" | "task")
}

/// Whether text is a command of its own where it is put between the words of another. A lone `&` is part of an address.
pub(crate) fn holds_command(text: &[u8]) -> bool {
    let spaced = text.iter().any(u8::is_ascii_whitespace);
    text.iter().any(|b| b"$`;|<>\n".contains(b) || *b == b'&' && spaced)
}

/// Something about a variable needs a yes of its own.
pub(super) fn needs_yes(inv: &Invocation<'_>, name: &str, text: String, out: &mut Description) {
    let span = span(inv);
    out.effects.push(Effect {
        verb: Verb::Run,
        target: Target::Option(inv.run),
        span,
        run: Some(inv.run),
        carry: Carry::Named { code: Code::Environment, by: NamedBy::Env(name.to_owned()) },
        certain: true,
    });
    out.doubts.push(Doubt { code: Code::Environment, text, span });
}

fn span(inv: &Invocation<'_>) -> Span {
    inv.spans.first().copied().unwrap_or_default()
}
