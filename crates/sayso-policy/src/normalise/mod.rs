//! From a tool call as it arrived to an operation: what it is called, what kind it is, what it would do.
//!
//! INVARIANT: arguments that are not understood make a call unclear, never harmless: it then carries an effect of
//! which only a rule that allows anything whatever speaks.

pub(crate) mod arguments;
pub mod guise;
mod kind;
pub(crate) mod lookalike;
mod mcp_name;
mod name;
pub(crate) mod place;
mod resolve;
pub(crate) mod url;

pub use kind::Kind;
pub(crate) use name::tool_name;
pub use name::{pattern_name, pattern_names};
pub(crate) use resolve::resolved;

use crate::tool::{self, BuiltIn, Draft, Scene};
use crate::word::{Facts, Noted, Operation, Provenance, Request, ToolCall, ToolName, Withheld};
use sayso_shell::{Analysis, Carry, Effect, Span, Target, Verb};

/// Normalises a call and works out its effects.
pub(crate) fn operation(call: ToolCall, facts: Facts<'_>) -> Operation {
    let (mut tool, built_in) = match &call.request {
        Request::Command(_) => name::read("bash_execute", None),
        Request::Tool { name, server, .. } => name::read(name, server.as_deref()),
    };
    let spelled = tool.raw.trim_ascii().to_owned();
    let (noted, withheld) = (Noted::over(facts.files), Withheld(facts.files));
    let scene = |files| Scene {
        cwd: call.cwd.as_deref(),
        home: call.home.as_deref(),
        workspace: &call.workspace,
        facts: Facts { files, ..facts },
        spelled: &spelled,
    };
    let Draft { kind, known, mut effects, mut analysis, command, resembles, .. } =
        describe(&call.request, &tool, built_in, scene(&noted));
    let read = noted.read();
    let provenance = match read.is_empty() {
        true => Provenance::default(),
        false => {
            let without = describe(&call.request, &tool, built_in, scene(&withheld));
            keep_doubts_to_themselves(analysis.as_mut(), without.analysis.as_ref());
            let without = (without.effects.as_slice(), without.analysis.as_ref());
            Provenance::of(read, (&effects, analysis.as_ref()), without)
        }
    };
    for name in resembles {
        if !tool.resembles.iter().any(|known| known == name) {
            tool.resembles.push(name.to_owned());
        }
    }
    effects.push(the_call());
    let folder = call.cwd.as_deref().and_then(|cwd| resolve::folder(cwd, facts.files));
    let folders = resolve::folders(analysis.as_ref(), call.cwd.as_deref(), folder.as_deref(), facts.files);
    let resolved = effects.iter().map(|effect| resolved(effect, facts.files)).collect();
    Operation {
        kind,
        reported_kind: kind::tightening(kind, call.reported_kind.as_deref()),
        tool,
        actor: call.actor,
        cwd: call.cwd,
        workspace: call.workspace,
        claimed_homes: facts.env.claimed_homes().to_vec(),
        home: call.home,
        env: facts.env.given().to_vec(),
        effects,
        resolved,
        command: analysis.is_some().then_some(command),
        analysis,
        folder,
        folders,
        known,
        request: call.request,
        provenance,
    }
}

/// What is said of a doubt may quote the file that it is about.
fn keep_doubts_to_themselves(analysis: Option<&mut Analysis>, without: Option<&Analysis>) {
    let known = without.map(|without| without.doubts.as_slice()).unwrap_or_default();
    for doubt in analysis.into_iter().flat_map(|analysis| &mut analysis.doubts) {
        if !known.contains(doubt) {
            "What is uncertain here comes from a file that this command follows.".clone_into(&mut doubt.text);
        }
    }
}

fn describe<'a>(request: &Request, name: &ToolName, built_in: Option<&'static BuiltIn>, scene: Scene<'a>) -> Draft<'a> {
    match request {
        Request::Command(command) => {
            let mut draft = Draft::new(scene, Kind::Execute);
            draft.known = true;
            let cwd = scene.cwd.map(std::path::PathBuf::from);
            tool::run_command(&mut draft, command, cwd, scene.facts.env.shells(), true);
            draft
        }
        Request::Tool { arguments, .. } if name.mcp => {
            let mut draft = Draft::new(scene, Kind::Other);
            tool::describe_mcp(name, arguments, &mut draft);
            draft
        }
        Request::Tool { arguments, .. } => match built_in {
            Some(built_in) => {
                let mut draft = Draft::new(scene, built_in.kind);
                (built_in.describe)(built_in, arguments, &mut draft);
                draft
            }
            None => {
                let mut draft = Draft::new(scene, Kind::Other);
                tool::describe_unknown(arguments, &mut draft);
                draft
            }
        },
    }
}

/// The call itself, always the last effect.
fn the_call() -> Effect {
    Effect {
        verb: Verb::Call,
        target: Target::Tool,
        span: Span::default(),
        run: None,
        carry: Carry::Plain,
        certain: true,
    }
}
