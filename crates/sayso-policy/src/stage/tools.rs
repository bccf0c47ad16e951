//! Stage 3: which tools are available at all. Layers, all of which must agree; and what was found about the tool itself.

use super::opinions::Opinions;
use super::{FileInForce, Inputs, of_layer};
use crate::compile::{Compiler, built_in_tools};
use crate::condition::is_actor;
use crate::pattern::{Purpose, ToolPattern};
use crate::policy::CompiledFile;
use crate::state::ToolFinding;
use crate::text::{LayerText, Who};
use crate::word::{Actor, Code, Layer, Opinion, Reason, Source, Stage, ToolName, Verdict};

/// One layer of `[tools]`.
#[derive(Clone, Debug)]
pub(crate) struct ToolLayer {
    /// Whom it is for; `None`: everybody.
    pub who: Option<Who>,
    /// `profile`, `only` and `also` together, where a profile or `only` was given: nothing else is there.
    pub only: Option<Vec<ToolPattern>>,
    /// Not there.
    pub hide: Vec<ToolPattern>,
    pub source: Option<Source>,
}

/// What the layers say of a tool.
pub(crate) struct ToolOpinion {
    pub opinion: Opinion,
    /// It comes from a closed list, which the essential stage may drop.
    pub closed_list: bool,
}

/// `[tools]` of a file: its own layer, and those for some actors.
pub(crate) fn section(compiler: &mut Compiler<'_>) -> Vec<ToolLayer> {
    let tools = &compiler.file.tools;
    let mut layers = vec![layer(compiler, None, &tools.base)];
    for of_some in &tools.layers {
        layers.push(layer(compiler, Some(of_some.who.value.clone()), &of_some.layer));
    }
    // An empty layer says nothing, but one for a member replaces the team's all the same.
    layers.retain(|layer| layer.who.is_some() || layer.only.is_some() || !layer.hide.is_empty());
    layers
}

fn layer(compiler: &mut Compiler<'_>, who: Option<Who>, layer: &LayerText) -> ToolLayer {
    let mut only = None;
    if layer.profile.is_some() || !layer.only.is_empty() {
        let mut patterns = Vec::new();
        if let Some(profile) = &layer.profile {
            patterns.extend(built_in_tools(&format!("profile-{}", profile.value.as_str())));
        }
        for text in layer.only.iter().chain(&layer.also) {
            patterns.extend(compiler.tool_patterns(text));
        }
        only = Some(patterns);
    } else {
        // Checked all the same: a typo must not be silently open.
        for text in &layer.also {
            compiler.tool_patterns(text);
        }
    }
    let hide = layer.hide.iter().flat_map(|text| compiler.tool_patterns(text)).collect();
    let source = (!layer.span.is_empty()).then(|| compiler.file.source(&layer.span));
    ToolLayer { who, only, hide, source }
}

/// What the layers of all files say of the call as a whole.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    let operation = inputs.judging.operation;
    said.call.extend(found(&inputs.state.findings));
    for FileInForce { file, essential, .. } in &inputs.files {
        let found = hiding(file, &operation.tool, &operation.actor);
        said.call.extend(found.filter(|found| !(found.closed_list && *essential)).map(|found| found.opinion));
    }
}

/// The first layer that takes the tool away, for this actor and all above it.
pub(crate) fn hiding(file: &CompiledFile, tool: &ToolName, actor: &Actor) -> Option<ToolOpinion> {
    if file.tools.is_empty() {
        return None;
    }
    for current in actor.and_above() {
        // INVARIANT: a layer for what an agent reports of itself stands beside those for what is stated, in place of none,
        // unless the file believes it.
        let aspects = if file.trusts_roles { current.believed() } else { current.every_aspect() };
        for actor in aspects {
            for layer in in_force(&file.tools, &actor) {
                if let Some(found) = layer.judge(&file.layer, tool) {
                    return Some(found);
                }
            }
        }
    }
    None
}

/// What was found of the tool itself speaks whatever the mode of any file: it is no rule of theirs.
///
/// INVARIANT: it never allows, and no remembered answer lifts it.
pub(crate) fn found(findings: &[ToolFinding]) -> impl Iterator<Item = Opinion> {
    findings.iter().filter(|finding| finding.verdict != Verdict::Allow).map(|finding| Opinion {
        stage: Stage::Tools,
        verdict: finding.verdict,
        maybe: false,
        reason: Reason { code: finding.code.clone(), text: finding.text.clone(), layer: Layer::BuiltIn, source: None },
        approver: None,
        always: true,
        grant: None,
    })
}

/// The layers for one actor. A model's layer replaces its provider's, a member's the team's.
fn in_force<'l>(layers: &'l [ToolLayer], actor: &Actor) -> Vec<&'l ToolLayer> {
    let applies = |layer: &&ToolLayer| layer.who.as_ref().is_none_or(|who| is_actor(who, actor));
    let matching: Vec<&ToolLayer> = layers.iter().filter(applies).collect();
    let has_model = matching.iter().any(|layer| matches!(&layer.who, Some(Who::Provider(key)) if key.model.is_some()));
    let has_member = matching.iter().any(|layer| matches!(&layer.who, Some(Who::Team { member: Some(_), .. })));
    matching
        .into_iter()
        .filter(|layer| match &layer.who {
            Some(Who::Provider(key)) => key.model.is_some() || !has_model,
            Some(Who::Team { member: None, .. }) => !has_member,
            _ => true,
        })
        .collect()
}

impl ToolLayer {
    fn judge(&self, file: &Layer, tool: &ToolName) -> Option<ToolOpinion> {
        let hit = |patterns: &[ToolPattern], purpose| ToolPattern::any_matches(patterns, tool, purpose);
        if hit(&self.hide, Purpose::Restrict) {
            let text = format!("The tool `{}` is hidden here.", tool.canonical);
            return Some(self.deny(file, Code::ToolHidden, text, false));
        }
        match &self.only {
            Some(only) if !hit(only, Purpose::Permit) => {
                let text = format!("The tool `{}` is not in the list of available tools.", tool.canonical);
                Some(self.deny(file, Code::ToolNotListed, text, true))
            }
            _ => None,
        }
    }

    fn deny(&self, file: &Layer, code: Code, text: String, closed_list: bool) -> ToolOpinion {
        let layer = match &self.who {
            Some(who) => Layer::Tools(who.to_string()),
            None => file.clone(),
        };
        let mut opinion = of_layer(Stage::Tools, Verdict::Deny, code, text, layer);
        opinion.reason.source.clone_from(&self.source);
        ToolOpinion { opinion, closed_list }
    }
}
