//! Tools that hand a command to a shell.

use super::draft::{Draft, anything};
use super::{BuiltIn, loose, unknown, unseen};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, plain_key, walk};
use crate::normalise::place::joined;
use sayso_shell::dialect::{Shells, analyze_in};
use sayso_shell::{Analysis, Context, Dialect, Environment, RunId, Span, Target};
use serde_json::Value;
use std::path::PathBuf;

pub(super) const TOOLS: &[BuiltIn] = &[
    BuiltIn {
        canonical: "bash_execute",
        implies: &[],
        aliases: &[
            "bash",
            "shell",
            "sh",
            "exec",
            "terminal",
            "runshellcommand",
            "executecommand",
            "shellcommand",
            "execcommand",
            "localshell",
            "localshellcall",
            "runcommand",
            "runterminalcmd",
            "runterminalcommand",
            "runinterminal",
            "executebash",
            "executeshell",
            "runbash",
            "bashcommand",
            "bashtool",
            "shellexec",
            "shellexecute",
            "executeshellcommand",
            "runbashcommand",
            "monitor",
            "container.exec",
        ],
        kind: Kind::Execute,
        describe,
    },
    // What is typed into a running program, and the language of another shell: nobody sees through it, so only a rule
    // that names the tool allows it.
    BuiltIn {
        canonical: "write_stdin",
        implies: &[],
        aliases: &["writebash", "sendinput", "sendkeys", "terminalinput", "writetoterminal"],
        kind: Kind::Execute,
        describe: opaque,
    },
    BuiltIn { canonical: "process", implies: &[], aliases: &[], kind: Kind::Execute, describe: opaque },
    BuiltIn {
        canonical: "powershell_execute",
        implies: &[],
        aliases: &["powershell", "pwsh"],
        kind: Kind::Execute,
        describe: opaque,
    },
];

/// Agents' tools that really start the command in the folder they are given, with the parameter's name. For every
/// other tool such a parameter may be ignored: then the command counts in both folders.
const TAKES_FOLDER: &[(&str, &str)] = &[
    ("exec", "workdir"),
    ("shell", "workdir"),
    ("shell_command", "workdir"),
    ("exec_command", "workdir"),
    ("local_shell", "workingdirectory"),
    ("run_shell_command", "dirpath"),
    ("run_shell_command", "directory"),
    ("terminal", "cd"),
];

fn opaque(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    unknown::describe(arguments, draft);
}

fn role(key: &str) -> Role {
    match key {
        "command" | "cmd" | "script" | "commandline" | "shellcommand" | "bashcommand" => Role::Command,
        "commands" => Role::Commands,
        "args" | "arguments" | "argv" => Role::Words,
        "workdir" | "cwd" | "cd" | "dir" | "directory" | "dirpath" | "workingdirectory" | "workingdir" => Role::Base,
        "env" | "environment" | "envvars" | "environmentvariables" => Role::Environment,
        "shell" => Role::Shell,
        "description" | "reason" | "title" | "explanation" | "justification" | "callid" | "turnid" | "toolcallid" => {
            Role::Text
        }
        _ => Role::Other,
    }
}

/// What the arguments of a shell tool ask for.
#[derive(Default)]
struct ShellRequest {
    commands: Vec<Vec<u8>>,
    words: Vec<u8>,
    folder: Option<String>,
    /// The shell that the call names.
    shell: Option<Dialect>,
    restart: bool,
    wrong: bool,
    strange_environment: bool,
}

fn describe(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let mut request =
        ShellRequest { restart: arguments.get("restart") == Some(&Value::Bool(true)), ..ShellRequest::default() };
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Command | Role::Commands, text) => request.commands.push(text.as_bytes().to_owned()),
        Found::Whole(Role::Command, list) => request.list_of_words(list),
        Found::Whole(Role::Words, list) => match quoted(list) {
            Some(words) => request.add_words(&words),
            None => request.wrong = true,
        },
        Found::Text(Role::Words, text) => request.add_words(text.as_bytes()),
        Found::Text(Role::Base, text) if request.folder.as_deref().is_none_or(|known| known == text) => {
            request.folder = Some(text.to_owned());
        }
        Found::Text(Role::Shell, name) => request.read_by(name),
        Found::Whole(Role::Environment, value) => request.strange_environment |= !is_harmless_environment(value),
        Found::Text(..) | Found::Wrong | Found::Whole(..) | Found::TooMuch => request.wrong = true,
        Found::Loose { key, text } => loose(draft, key, text),
    });
    // A shell that is only started anew does nothing that an effect could tell.
    if request.commands.is_empty() && request.restart && !request.wrong {
        return;
    }
    draft.known = true;
    if request.wrong || request.commands.is_empty() || request.strange_environment {
        draft.unclear();
    }
    if leaves_sandbox(arguments) {
        draft.effects.push(anything(sayso_shell::Code::LeavesSandbox));
    }
    request.analyse(arguments, draft);
    if unseen::can_be_typed_into(draft.scene.spelled) && draft.analysis.as_ref().is_some_and(unseen::listens) {
        draft.effects.push(anything(sayso_shell::Code::UnseenInput));
    }
}

/// Whether the command is to run with more rights than the agent's others: a yes to the command is no yes to that.
fn leaves_sandbox(arguments: &Value) -> bool {
    let Some(fields) = arguments.as_object() else { return false };
    fields.iter().any(|(key, value)| match plain_key(key).as_str() {
        "elevated"
        | "escalated"
        | "sudo"
        | "asroot"
        | "withescalatedpermissions"
        | "dangerouslydisablesandbox"
        | "disablesandbox"
        | "nosandbox" => !matches!(value, Value::Null | Value::Bool(false)),
        "sandboxpermissions" => value.as_str() != Some("use_default") && !value.is_null(),
        _ => false,
    })
}

impl ShellRequest {
    /// `["bash", "-lc", "..."]`.
    fn list_of_words(&mut self, list: &Value) {
        match quoted(list) {
            Some(text) if !text.is_empty() => self.commands.push(text),
            _ => self.wrong = true,
        }
    }

    fn add_words(&mut self, words: &[u8]) {
        self.words.push(b' ');
        self.words.extend_from_slice(words);
    }

    fn read_by(&mut self, shell: &str) {
        match Dialect::named(shell) {
            Some(dialect) => self.shell = Some(dialect),
            None => self.wrong = true,
        }
    }

    fn analyse(&self, arguments: &Value, draft: &mut Draft<'_>) {
        let here = draft.scene.cwd.map(PathBuf::from);
        let folders: Vec<Option<PathBuf>> = match &self.folder {
            None => vec![here],
            Some(folder) => {
                let there = Some(joined(folder, draft.scene.cwd)).filter(|path| path.is_absolute());
                // `~` and `$HOME` may or may not be expanded.
                let plain = !folder.starts_with('~') && !folder.contains('$');
                match (plain, takes_folder(draft.scene.spelled, arguments)) {
                    (false, _) => vec![None],
                    (true, true) => vec![there],
                    (true, false) if here == there => vec![there],
                    (true, false) => vec![here, there],
                }
            }
        };
        // Whether the agent goes by what the call says is not known.
        let own = draft.scene.facts.env.shells();
        let shells = self.shell.map_or(own, |shell| own.or(shell));
        for command in &self.commands {
            let mut text = command.clone();
            text.extend_from_slice(&self.words);
            for folder in &folders {
                run_command(draft, &text, folder.clone(), shells, true);
            }
        }
    }
}

fn takes_folder(spelled: &str, arguments: &Value) -> bool {
    let has = |name: &str| arguments.as_object().is_some_and(|fields| fields.keys().any(|key| plain_key(key) == name));
    TAKES_FOLDER.iter().any(|(tool, parameter)| *tool == spelled && has(parameter))
}

/// Analyses a command and adds what it does. Effects that are not `certain` are only looked at by asks and denies.
pub(crate) fn run_command(draft: &mut Draft<'_>, text: &[u8], cwd: Option<PathBuf>, shells: Shells, certain: bool) {
    let scene = draft.scene;
    let context = Context {
        cwd: cwd.as_deref(),
        home: scene.home,
        workspace: scene.workspace.root(),
        env: scene.facts.env,
        files: scene.facts.files,
        dialect: Dialect::default(),
    };
    let analysis = analyze_in(text, &context, shells);
    // Where the caller claims another home, `~` may be either: both are done, and both must be allowed. So it is with
    // variables for which it claims other values than they have here.
    let claimed = scene.claimed_homes().map(|home| analyze_in(text, &Context { home: Some(home), ..context }, shells));
    let here = Here::of(scene.facts.env);
    let here = here.as_ref().map(|env| analyze_in(text, &Context { env, ..context }, shells));
    let claimed: Vec<Analysis> = claimed.chain(here).filter(|other| *other != analysis).collect();
    append(draft, text, analysis, certain);
    for analysis in claimed {
        append(draft, text, analysis, certain);
    }
}

/// The environment as the owner's machine knows it, with what the call claims of variables that have no value there.
///
/// INVARIANT: a claim takes no guard away. `HOME=.` makes another file of `~/.ssh/id_rsa`, but only where it is true.
struct Here<'e> {
    env: &'e dyn Environment,
    given: Vec<(String, String)>,
}

impl<'e> Here<'e> {
    /// `None`: nothing that is known there is claimed to be otherwise.
    fn of(env: &'e dyn Environment) -> Option<Self> {
        let all = env.given();
        let beside = |(name, _): &&(String, String)| env.known(name).is_none();
        let given: Vec<(String, String)> = all.iter().filter(beside).cloned().collect();
        (given.len() < all.len()).then_some(Self { env, given })
    }
}

impl Environment for Here<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.env.known(name).or_else(|| self.env.get(name))
    }

    fn given(&self) -> &[(String, String)] {
        &self.given
    }

    fn shells(&self) -> Shells {
        self.env.shells()
    }

    fn programs(&self) -> &sayso_shell::program::Catalogue {
        self.env.programs()
    }
}

/// Adds a second analysis behind a first: ids, spans and pipelines are moved along.
fn append(draft: &mut Draft<'_>, text: &[u8], mut analysis: Analysis, certain: bool) {
    if !draft.command.is_empty() {
        draft.command.push(b'\n');
    }
    let start = u32::try_from(draft.command.len()).unwrap_or(u32::MAX);
    draft.command.extend_from_slice(text);
    if analysis.opaque && !analysis.effects.iter().any(|effect| effect.target == Target::Anything) {
        analysis.effects.push(anything(sayso_shell::Code::Opaque));
    }
    if let Some(first) = &mut draft.analysis {
        let runs = u32::try_from(first.runs.len()).unwrap_or(u32::MAX);
        let pipelines = first.runs.iter().filter_map(|run| run.pipe).map(|pipe| pipe.pipeline.saturating_add(1)).max();
        move_along(&mut analysis, start, runs, pipelines.unwrap_or(0));
    }
    for effect in &analysis.effects {
        let mut effect = effect.clone();
        effect.certain &= certain;
        draft.effects.push(effect);
    }
    match &mut draft.analysis {
        Some(first) => {
            first.runs.append(&mut analysis.runs);
            first.effects.append(&mut analysis.effects);
            first.doubts.append(&mut analysis.doubts);
            first.opaque |= analysis.opaque;
        }
        None => draft.analysis = Some(analysis),
    }
}

fn move_along(analysis: &mut Analysis, start: u32, runs: u32, pipelines: u16) {
    let id = |id: &mut RunId| id.0 = id.0.saturating_add(runs);
    let span = |span: &mut Span| {
        span.start = span.start.saturating_add(start);
        span.end = span.end.saturating_add(start);
    };
    for run in &mut analysis.runs {
        span(&mut run.span);
        run.spans.iter_mut().for_each(span);
        run.options.iter_mut().for_each(|option| span(&mut option.span));
        run.parent.iter_mut().for_each(id);
        run.pipe.iter_mut().for_each(|pipe| pipe.pipeline = pipe.pipeline.saturating_add(pipelines));
    }
    for effect in &mut analysis.effects {
        span(&mut effect.span);
        effect.run.iter_mut().for_each(id);
        match &mut effect.target {
            Target::Program(run) | Target::Wrapper(run) | Target::Option(run) | Target::Code { run, .. } => id(run),
            Target::Anything | Target::Path(_) | Target::Host(_) | Target::Tool => {}
        }
    }
    analysis.doubts.iter_mut().for_each(|doubt| span(&mut doubt.span));
}

/// Words as a shell would have to read them to get exactly these.
fn quoted(list: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for word in list.as_array()? {
        if !out.is_empty() {
            out.push(b' ');
        }
        let word = word.as_str()?;
        if !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./,:@%+".contains(&b))
            && !out.is_empty()
        {
            out.extend_from_slice(word.as_bytes());
            continue;
        }
        out.push(b'\'');
        out.extend_from_slice(word.replace('\'', "'\\''").as_bytes());
        out.push(b'\'');
    }
    Some(out)
}

fn is_harmless_environment(value: &Value) -> bool {
    use sayso_shell::program::{changes_what_runs, names_output};
    let harmless = |name: &str| !changes_what_runs(name) && !names_output(name);
    match value {
        Value::Object(fields) => fields.keys().all(|name| harmless(name)),
        Value::Array(items) => items.iter().all(|item| match item {
            Value::String(text) => text.split_once('=').is_some_and(|(name, _)| harmless(name)),
            Value::Object(fields) => fields.get("name").and_then(Value::as_str).is_some_and(harmless),
            _ => false,
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_quoted_so_that_a_shell_gives_them_back() {
        for (words, expected) in [
            (json!(["bash", "-lc", "touch ran"]), "'bash' -lc 'touch ran'"),
            (json!(["it's"]), "'it'\\''s'"),
            (json!(["a", "", "$(x)"]), "'a' '' '$(x)'"),
            (json!(["A=1", "x"]), "'A=1' x"),
        ] {
            assert_eq!(String::from_utf8(quoted(&words).unwrap()).unwrap(), expected);
        }
        assert_eq!(quoted(&json!(["a", 1])), None);
    }

    #[test]
    fn an_environment_is_harmless_only_if_every_variable_is() {
        assert!(is_harmless_environment(&json!({"CI": "1", "TERM": "dumb"})));
        assert!(is_harmless_environment(&json!([{"name": "CI", "value": "1"}])));
        assert!(!is_harmless_environment(&json!({"CI": "1", "LD_PRELOAD": "/x.so"})));
        assert!(!is_harmless_environment(&json!(["PATH=/x"])));
        assert!(!is_harmless_environment(&json!("CI=1")));
    }
}
