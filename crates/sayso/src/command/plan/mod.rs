//! `sayso plan`: a list of calls that is judged and answered as one question.

mod shown;
mod steps;

use crate::choice::PolicyChoice;
use crate::command::check::exit_code;
use crate::failure::{Failure, Outcome};
use crate::input::call::Circumstances;
use crate::judge::{Judge, refused};
use sayso_gate::approval::Standing;
use sayso_gate::audit::export::json_line;
use sayso_gate::audit::{Log, Query, Spool};
use sayso_gate::plan::{self, Plan as Planned};
use sayso_gate::store::Store;
use sayso_gate::{Error, Gate, Home, Live, Memory, Places};
use sayso_policy::{Answer, Verdict};
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// How often an answer is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Check a list of calls as a whole, submit it for approval, and show what became of it.
///
/// A plan is a file with one call per line, as `sayso check --jsonl` reads them. It is judged step by step, each as if the
/// steps before it had run. One yes approves it: each step may then run once, in order, in the session that submitted it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso plan check plan.jsonl
  sayso plan submit plan.jsonl --agent claude-code --session 4f2a --wait
  sayso plan list
  sayso plan show 01a2b3

A line of the file:
  {\"command\": \"git push origin main\", \"cwd\": \"/home/me/app\"}")]
pub(crate) struct Plan {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Judge the steps without recording anything or asking anybody
    ///
    /// Exit code: 0 allow, 3 ask, 4 deny, 2 wrong usage or a bad policy, 1 internal error.
    Check(Check),
    /// Submit a plan: record it, and put it to people as one question where it needs them
    ///
    /// Exit code: 0 allowed or approved, 3 pending, 4 denied or not answered in time, 2 wrong usage, 1 internal error.
    Submit(Submit),
    /// List the plans that were submitted, newest first
    List {
        /// Only of this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Only of this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Show at most this many
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show one plan: its steps, what each would do, and which have run
    Show {
        /// Its id, or the start of it
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct Check {
    /// The plan, one call per line; `-` for standard input
    file: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyChoice,
    #[command(flatten)]
    circumstances: Circumstances,
}

#[derive(Debug, clap::Args)]
struct Submit {
    /// The plan, one call per line; `-` for standard input
    file: String,
    /// Wait until people have answered
    #[arg(long)]
    wait: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    circumstances: Circumstances,
}

/// The steps of a plan that waits, for whoever answers.
pub(crate) fn steps_of(steps: &[plan::Step]) -> String {
    shown::steps(steps)
}

/// The same in a few words.
pub(crate) fn short_of(steps: &[plan::Step]) -> String {
    shown::short(steps)
}

/// Runs it.
pub(crate) fn run(command: &Plan) -> Outcome {
    match &command.action {
        Action::Check(check) => self::check(check),
        Action::Submit(submit) => self::submit(submit),
        Action::List { agent, session, limit, json } => {
            let query =
                Query { agent: agent.clone(), session: session.clone(), limit: Some(*limit), ..Query::default() };
            let found = with_store(|store| Ok(plan::list(store, &query, &|_| true)?))?;
            shown::list(&found, *json)?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Show { id, json } => {
            let found = with_store(|store| Ok(plan::find(store, id, &|_| true)?))?;
            let none =
                || Failure::wrong(format!("error: there is no plan {id}\n\n  List them with `sayso plan list`."));
            let plan = found.ok_or_else(none)?;
            print(&plan, *json)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn with_store<T>(read: impl FnOnce(&dyn Store) -> Result<T, Failure>) -> Result<T, Failure> {
    let log = Log::open(&Places::find(Home::Environment)?)?;
    log.fold()?;
    read(log.store().as_ref())
}

fn check(check: &Check) -> Outcome {
    let calls = steps::read(&check.file, &check.circumstances, steps::Whose::Owner)?;
    let first = calls.first().ok_or_else(|| Failure::wrong("error: the plan has no steps"))?;
    let judge = Judge::choose(&check.policy, &first.call)?;
    judge.say_notices();
    let plan = judge.plan(&calls).map_err(no_plan)?;
    print(&plan, check.json)?;
    Ok(exit_code(plan.verdict.into()))
}

fn submit(submit: &Submit) -> Outcome {
    let calls = steps::read(&submit.file, &submit.circumstances, steps::Whose::Caller)?;
    let first = calls.first().ok_or_else(|| Failure::wrong("error: the plan has no steps"))?;
    let places = Places::find(Home::Environment)?;
    let policy = Live::follow(&places, first.call.workspace.root()).map_err(refused)?;
    let gate = Gate::over(policy, Box::new(Spool::open(&places)?)).with_memory(Memory::of(&places));
    let mut plan = gate.submit_plan(&calls, "plan submit").map_err(no_plan)?.plan;
    if submit.wait && plan.standing == Some(Standing::Pending) {
        let store = Memory::of(&places);
        let store = store.store()?.as_ref();
        while plan.standing == Some(Standing::Pending) {
            std::thread::sleep(LOOK_EVERY);
            let standing = store.approval(&plan.id)?.map(|approval| approval.standing);
            plan.standing = Some(standing.unwrap_or(Standing::Cancelled));
        }
    }
    print(&plan, submit.json)?;
    Ok(exit_code(match (plan.verdict, plan.standing) {
        (Verdict::Allow, _) | (_, Some(Standing::Approved)) => Answer::Allow,
        (Verdict::Ask, Some(Standing::Pending)) => Answer::Ask,
        _ => Answer::Deny,
    }))
}

/// Calls that make no plan are wrong usage; all else is this program's or the policy's.
fn no_plan(error: Error) -> Failure {
    match error {
        Error::Plan(why) => Failure::wrong(format!("error: {why}")),
        error => refused(error),
    }
}

fn print(plan: &Planned, json: bool) -> Result<(), Failure> {
    let text = if json { json_line(plan)? } else { shown::whole(plan) };
    stdout().write_all(text.as_bytes())?;
    Ok(())
}
