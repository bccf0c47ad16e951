//! Stage 3: which tools are there at all. Layers, all of which must agree; and what was found of the tool itself.

use crate::pattern::{Purpose, ToolPattern};
use crate::rule::is;
use crate::state::ToolFinding;
use crate::text::Who;
use crate::word::{Actor, Layer, Opinion, Reason, Source, Stage, ToolName, Verdict};
use std::borrow::Cow;

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

/// The first layer that takes the tool away, for this actor and all above it.
pub(crate) fn judge(layers: &[ToolLayer], file: &Layer, tool: &ToolName, actor: &Actor) -> Option<ToolOpinion> {
    let mut next = Some(actor);
    // A chain of parents is as long as the agent says; eight is more than any has.
    for _ in 0..8 {
        let current = next?;
        for layer in in_force(layers, current) {
            if let Some(found) = layer.judge(file, tool) {
                return Some(found);
            }
        }
        next = current.parent.as_deref();
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
    let applies = |layer: &&ToolLayer| layer.who.as_ref().is_none_or(|who| is(who, actor));
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
            return Some(self.deny(
                file,
                "tool-hidden",
                format!("The tool `{}` is hidden here.", tool.canonical),
                false,
            ));
        }
        match &self.only {
            Some(only) if !hit(only, Purpose::Permit) => {
                let text = format!("The tool `{}` is not among those that are there.", tool.canonical);
                Some(self.deny(file, "tool-not-listed", text, true))
            }
            _ => None,
        }
    }

    fn deny(&self, file: &Layer, code: &'static str, text: String, closed_list: bool) -> ToolOpinion {
        let layer = match &self.who {
            Some(who) => Layer::Tools(who.to_string()),
            None => file.clone(),
        };
        let reason = Reason { code: Cow::Borrowed(code), text, layer, source: self.source.clone() };
        ToolOpinion {
            opinion: Opinion {
                stage: Stage::Tools,
                verdict: Verdict::Deny,
                maybe: false,
                reason,
                approver: None,
                always: false,
                grant: None,
            },
            closed_list,
        }
    }
}
