//! Plans as people see them. Whatever an agent wrote is made visible.

use crate::command::log::time::shown as time;
use crate::failure::Failure;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_gate::approval::Standing;
use sayso_gate::audit::export::json_line;
use sayso_gate::plan::{Plan, Step};
use sayso_policy::Verdict;
use sayso_policy::explain::visible;
use std::fmt::Write as _;
use std::io::{Write as _, stdout};

/// Effects of one step that are shown.
const SHOWN: usize = 12;
/// How much of a command stands in a list.
const SHORT: usize = 60;

/// Plans, in a table.
pub(super) fn list(found: &[Plan], json: bool) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if json {
        for plan in found {
            write!(out, "{}", json_line(plan)?)?;
        }
        return Ok(());
    }
    if found.is_empty() {
        writeln!(out, "No plan was submitted.")?;
        return Ok(());
    }
    let mut table = Table::new(["id", "status", "from", "session", "steps", "submitted"]);
    for plan in found {
        table.row([
            plan.id.clone(),
            status(plan),
            visible(plan.actor.agent.as_deref().unwrap_or(&plan.way_in)).into_owned(),
            visible(plan.actor.session.as_deref().unwrap_or("")).into_owned(),
            plan.steps.len().to_string(),
            time(plan.time_ms),
        ]);
    }
    write!(out, "{}", table.draw(Paint::for_stdout()))?;
    Ok(())
}

fn status(plan: &Plan) -> String {
    match plan.standing {
        None => plan.verdict.as_str().to_owned(),
        Some(Standing::Approved) => format!("approved, {} of {} run", plan.used.len(), plan.steps.len()),
        Some(standing) => standing.as_str().to_owned(),
    }
}

/// One plan with its steps.
pub(super) fn whole(plan: &Plan) -> String {
    let paint = Paint::for_stdout();
    let steps = plan.steps.len();
    let of = if steps == 1 { "a plan of 1 step".to_owned() } else { format!("a plan of {steps} steps") };
    let decisive = plan.decisive.map(|step| format!(", because of step {step}")).unwrap_or_default();
    let mut text = format!("{}  {of}{decisive}\n", paint.verdict(plan.verdict, plan.verdict.as_str()));
    if let Some(standing) = plan.standing {
        let _ = writeln!(text, "      {} as {}", status(plan), visible(&plan.id));
        if standing == Standing::Pending {
            let _ =
                writeln!(text, "      answer it with `sayso approvals answer {}` or on the page", visible(&plan.id));
        }
    }
    for step in &plan.steps {
        text.push('\n');
        text.push_str(&of_step(paint, step, plan.used.contains(&step.number)));
    }
    text
}

/// One step.
fn of_step(paint: Paint, step: &Step, ran: bool) -> String {
    let said = step.command.as_deref().unwrap_or(&step.tool);
    let mut lines = said.lines();
    let mut text = format!(
        "{:>3}  {}  {}{}\n",
        step.number,
        paint.verdict(step.verdict, &format!("{:<5}", step.verdict.as_str())),
        visible(lines.next().unwrap_or_default()),
        if ran { "   (has run)" } else { "" },
    );
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "            {}  {}", paint.dim(&format!("{label:<7}")), visible(value));
    };
    lines.for_each(|rest| line("", rest));
    if step.command.is_none()
        && let Some(arguments) = &step.arguments
    {
        line("with", &arguments.to_string());
    }
    let whole = step.verdict == Verdict::Allow;
    for effect in step.effects.iter().filter(|effect| whole || effect.verdict == step.verdict).take(SHOWN) {
        line("would", &format!("{} {}", effect.verb.as_str(), effect.target));
    }
    if step.more_effects > 0 || step.effects.len() > SHOWN {
        line("", "... and more, not shown here");
    }
    if !whole {
        for reason in step.reasons.iter().take(3) {
            line("because", &format!("{} [{}]", reason.text, reason.code));
        }
    }
    if let Some(risk) = step.risk.as_ref().filter(|risk| risk.score > 0) {
        line("risk", &format!("{} ({})", risk.score, risk.word.as_str()));
    }
    if let Some(again) = &step.again {
        line("then", &format!("Asks when it runs. {again}"));
    }
    if step.left_out {
        line("left out", "The call is too long to store in full.");
    }
    text
}

/// The steps of a plan that waits, for whoever answers.
pub(super) fn steps(found: &[Step]) -> String {
    let paint = Paint::plain();
    found.iter().map(|step| of_step(paint, step, false)).collect()
}

/// The first words of its steps.
pub(super) fn short(found: &[Step]) -> String {
    let one = |step: &Step| step.command.clone().unwrap_or_else(|| step.tool.clone());
    let all = found.iter().map(one).collect::<Vec<_>>().join("; ");
    let cut: String = all.chars().take(SHORT).collect();
    format!("plan of {}: {cut}{}", found.len(), if cut.len() < all.len() { "..." } else { "" })
}
