//! `sayso doctor`: whether the guard holds, and what it does not hold against.

pub(crate) mod hold;
mod live;
mod program;
mod strength;

use super::install::failure;
use crate::failure::Outcome;
use crate::show::agents::this_program;
use crate::show::paint::Paint;
use hold::Machine;
use sayso_agents::Agent;
use sayso_agents::find::{Found, find};
use sayso_agents::install::{Finding, Registration, Scope, Setting, registrations};
use sayso_agents::live::{Live, holds, ran_unheld};
use sayso_gate::audit::{Event, Kind, Log, Query};
use sayso_gate::store::Watch;
use sayso_gate::{EffectiveMode, Home, InForce, Places, reason};
use sayso_policy::explain::visible;
use sayso_policy::{CanHold, Verdict};
use sayso_server::{HeldAgent, HoldStatus};
use serde_json::{Value, json};
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

/// Check that every agent on this machine is guarded, that the guard is in force, and how strong it is.
///
/// For each agent: the registered program exists and has not changed since it was registered, the registration is
/// complete and not switched off, and the agent trusts it. Then the policy and the record. Exit code 1 if something is
/// wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso doctor
  sayso doctor codex --json
  sayso doctor --hold     see what this machine can hold, and how to make it hold more
  sayso doctor --live     have each agent make a harmless call that must be denied, offline, with a test model")]
pub(crate) struct Doctor {
    /// The agent [default: all on PATH or with Sayso in their settings]
    #[arg(value_parser = crate::completing::Completes::agents(), hide_possible_values = true)]
    agent: Option<String>,
    /// Have the real agent make a harmless call that must be denied
    #[arg(long)]
    live: bool,
    /// Try what the kernel of this machine can hold, and say what to do about what it cannot. Exit code 1 if it cannot hold
    /// commands whole
    #[arg(long, conflicts_with_all = ["agent", "live"])]
    hold: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// `sayso doctor AGENT --live`
    pub(super) fn live(agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), live: true, hold: false, json: false }
    }
}

/// What is known of one agent.
struct Checked {
    agent: Agent,
    found: Option<Found>,
    registrations: Vec<Registration>,
    findings: Vec<Finding>,
    live: Option<Live>,
    /// How strongly it was seen to hold commands, or why it does not; `None`: no policy here wants that.
    held: Option<Result<CanHold, String>>,
}

impl Checked {
    fn guarded(&self) -> bool {
        self.registrations.iter().any(|registration| registration.in_force)
    }

    fn wrong(&self) -> bool {
        let findings = self.registrations.iter().flat_map(|registration| &registration.findings);
        let live = match &self.live {
            Some(Live::Ran | Live::NotAsked(_)) => true,
            // Nothing was seen: no proof, but only where a guard was to be seen.
            Some(Live::NotSeen(_)) => self.guarded(),
            Some(Live::Denied) | None => false,
        };
        findings.chain(&self.findings).next().is_some() || live
    }
}

/// What is known of policy and record: `Err` holds what is wrong.
type Part = Result<String, String>;

struct Report {
    named: bool,
    policy: Part,
    mode: Part,
    record: Part,
    /// Receivers of `serve --webhook`; `None`: there are none, or no server runs.
    webhooks: Option<Part>,
    machine: Machine,
    attacker: Vec<String>,
    agents: Vec<Checked>,
}

/// Runs it.
pub(crate) fn run(doctor: &Doctor) -> Outcome {
    let machine = Machine::look();
    if doctor.hold {
        let text =
            if doctor.json { format!("{:#}\n", machine.as_json()) } else { machine.as_text(Paint::for_stdout()) };
        stdout().write_all(text.as_bytes())?;
        return Ok(if machine.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    let places = Places::find(Home::Environment)?;
    let project = std::env::current_dir()?;
    let program = this_program()?;
    let named: Option<Agent> = doctor.agent.as_deref().map(str::parse).transpose().map_err(failure)?;
    let on_path = find(Duration::from_secs(10));
    let mut agents = Vec::new();
    for agent in Agent::ALL.iter().copied().filter(|agent| agent.has_hooks()) {
        if named.is_some_and(|named| named != agent) {
            continue;
        }
        let found = on_path.iter().find(|found| found.agent == agent).cloned();
        let setting = Setting::here(Scope::User, places.clone(), project.clone(), program.clone()).of(agent);
        let registrations = registrations(agent, &setting);
        if found.is_none() && registrations.is_empty() && named.is_none() {
            continue;
        }
        let mut findings = program::compared(agent, &registrations, &places, &program);
        findings.extend(version(agent, found.as_ref()));
        agents.push(Checked { agent, found, registrations, findings, live: None, held: None });
    }
    let hold = InForce::load(&places, Some(&project)).is_ok_and(|in_force| in_force.policy.has_hold());
    for checked in &mut agents {
        if doctor.live
            && let Some(seen) = live::see(checked, &places, &program, &project, hold)?
        {
            (checked.live, checked.held) = (Some(seen.live), seen.hold);
        }
        if hold && checked.held.is_none() && !checked.registrations.is_empty() {
            checked.held = Some(holds(checked.agent, &places));
        }
        if ran_unheld(checked.agent, &places).is_some() && !matches!(checked.held, Some(Ok(_))) {
            let text = format!(
                "A command ran without the hold under which alone it was allowed (`sayso log --kind happening` has it as `unheld`), so commands of this agent are not held any more. To try again: sayso doctor {} --live",
                checked.agent
            );
            checked.findings.push(Finding { code: "unheld", text });
        }
    }
    let attacker = strength::attacker(&places, &agents);
    let report = Report {
        named: named.is_some(),
        policy: policy(&places, &project),
        mode: mode(&places, &project),
        record: record(&places),
        webhooks: webhooks(&places),
        machine,
        attacker,
        agents,
    };
    let text = if doctor.json { report.as_json() } else { report.as_text(Paint::for_stdout(), &places) };
    stdout().write_all(text.as_bytes())?;
    Ok(if report.wrong() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What the agent's own version makes wrong.
fn version(agent: Agent, found: Option<&Found>) -> Option<Finding> {
    let why = agent.too_old(found?.version.as_deref()?)?;
    Some(Finding { code: "agent-too-old", text: why.to_owned() })
}

fn policy(places: &Places, project: &Path) -> Part {
    let in_force = InForce::load(places, Some(project)).map_err(|error| error.to_string())?;
    // Something else than the file is in force.
    let replaced = [reason::LAST_GOOD, reason::POLICY_REFUSED];
    let (wrong, notes): (Vec<_>, Vec<_>) = in_force
        .notices
        .iter()
        .partition(|notice| !notice.problems.is_empty() || replaced.iter().any(|code| notice.reason.code == *code));
    let texts = |notices: Vec<&sayso_gate::policy::Notice>| -> Vec<String> {
        notices.into_iter().map(|notice| notice.reason.text.clone()).collect()
    };
    if !wrong.is_empty() {
        return Err(texts(wrong).join(" "));
    }
    let mut parts = vec![sayso_server::in_words(&in_force.files)];
    parts.extend(texts(notes));
    Ok(parts.join(". "))
}

/// What decides. A halt is as strict as it gets; what loosens is for a while and somebody should know.
fn mode(places: &Places, project: &Path) -> Part {
    let in_force = InForce::load(places, Some(project)).map_err(|error| error.to_string())?;
    let mode = EffectiveMode::now(places, &in_force);
    let said = crate::show::mode::whole(&mode);
    if mode.enforces() || mode.run == "halt" { Ok(said) } else { Err(said) }
}

fn record(places: &Places) -> Part {
    let log = Log::open(places).map_err(|error| error.to_string())?;
    let count = log.count(&Query::default()).map_err(|error| error.to_string())?;
    let decisions = if count == 1 { "1 decision".to_owned() } else { format!("{count} decisions") };
    let said = format!("{}, {decisions}, {}", places.shown(&places.state), chain(log.store())?);
    Ok(said)
}

/// More records than this are not looked at here, but by a server in the background.
const MOST_LOOKED_AT: u64 = 200_000;

/// Whether the chain is whole: looked at now where that is quick; else when a server last did.
fn chain(store: &std::sync::Arc<dyn sayso_gate::store::Store>) -> Part {
    let failed = |error: sayso_gate::Error| error.to_string();
    let broken = |what: &str| format!("the record has been altered: {what}. Run `sayso log verify` for details");
    let newest = Watch::over(store).newest().map_err(failed)?;
    if let Some(why) = store.end_problem().map_err(failed)?.or(newest) {
        return Err(broken(&why));
    }
    let last = store.last_checked().map_err(failed)?;
    let ago = last.as_ref().map(|last| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let minutes = u64::try_from(now.as_millis()).unwrap_or(u64::MAX).saturating_sub(last.time_ms) / 60_000;
        match minutes {
            0..=1 => "a minute ago".to_owned(),
            2..=119 => format!("{minutes} minutes ago"),
            _ => format!("{} hours ago", minutes / 60),
        }
    });
    let few = store.count(&Query::default()).map_err(failed)? <= MOST_LOOKED_AT;
    if few {
        match store.verify(None).map_err(failed)?.problems.len() {
            0 => {}
            1 => return Err(broken("one problem")),
            count => return Err(broken(&format!("{count} problems"))),
        }
    }
    match (last, ago) {
        // It may know more than the store says: the heads that were copied elsewhere.
        (Some(last), Some(ago)) if last.problems > 0 => Err(format!(
            "the record is not what was written: found by a server {ago}. `sayso log verify` says more, with `--head FILE` \
             where heads are copied elsewhere; a server that finds it whole again says so"
        )),
        _ if few => Ok("chain ok".to_owned()),
        (Some(_), Some(ago)) => Ok(format!("chain ok as of the server's last check, {ago}")),
        _ => {
            Ok("chain not checked; `sayso serve` checks it in the background, `sayso log verify` checks it now"
                .to_owned())
        }
    }
}

/// Whether the receivers of the server that was started last could be told, by what it recorded.
fn webhooks(places: &Places) -> Option<Part> {
    let query = Query { kinds: vec![Kind::Server], limit: Some(1000), ..Query::default() };
    // A record that cannot be read is said beside it.
    let events = Log::open(places).and_then(|log| log.events(&query)).ok()?;
    let changes = events.iter().filter_map(|record| match &record.event {
        Event::Change(change) => Some(change),
        _ => None,
    });
    let mut known: Vec<&str> = Vec::new();
    let mut failing = Vec::new();
    // The latest first.
    for change in changes {
        let text = |key: &str| change.detail.get(key).and_then(Value::as_str).unwrap_or_default();
        match (change.what.as_str(), change.about.as_deref()) {
            ("stopped", _) => return None,
            ("started", _) => {
                let told = change.detail.get("webhooks").and_then(Value::as_array).map_or(0, Vec::len);
                let fine = || format!("{told} webhooks, none known to fail");
                return (told > 0).then(|| if failing.is_empty() { Ok(fine()) } else { Err(failing.join(" ")) });
            }
            ("webhook-fails", Some(person)) if !known.contains(&person) => {
                known.push(person);
                let host = text("host");
                failing.push(format!("Pending calls for {person} cannot be sent to {host}: {}.", text("why")));
            }
            ("webhook-works", Some(person)) => known.push(person),
            _ => {}
        }
    }
    None
}

fn level_name(level: CanHold) -> &'static str {
    match level {
        CanHold::Whole => "whole",
        CanHold::Files => "files",
        CanHold::No => "none",
    }
}

impl Report {
    fn wrong(&self) -> bool {
        let unguarded = self.agents.iter().all(|checked| !checked.guarded());
        let named_unguarded = self.named && unguarded;
        let untold = self.webhooks.as_ref().is_some_and(Result::is_err);
        self.policy.is_err()
            || self.mode.is_err()
            || self.record.is_err()
            || untold
            || named_unguarded
            || self.agents.iter().any(Checked::wrong)
    }

    fn as_json(&self) -> String {
        let part = |part: &Part| match part {
            Ok(text) => json!({"ok": true, "text": text}),
            Err(text) => json!({"ok": false, "text": text}),
        };
        let finding = |finding: &Finding| json!({"code": finding.code, "text": finding.text});
        let registration = |it: &Registration| {
            json!({"scope": it.scope.name(), "path": it.path, "program": it.program, "in_force": it.in_force,
                "findings": it.findings.iter().map(finding).collect::<Vec<_>>()})
        };
        let agent = |checked: &Checked| {
            json!({
                "agent": checked.agent.name(),
                "title": checked.agent.title(),
                "program": checked.found.as_ref().map(|found| &found.program),
                "version": checked.found.as_ref().and_then(|found| found.version.as_ref()),
                "guarded": checked.guarded(),
                "level": if checked.guarded() { json!("tripwire") } else { Value::Null },
                "registrations": checked.registrations.iter().map(registration).collect::<Vec<_>>(),
                "findings": checked.findings.iter().map(finding).collect::<Vec<_>>(),
                "not_covered": checked.agent.not_covered(),
                "live": checked.live.as_ref().map(live::as_json),
                "held": checked.held.as_ref().map(|held| match held {
                    Ok(level) => json!({"level": level_name(*level)}),
                    Err(why) => json!({"level": Value::Null, "text": why}),
                }),
            })
        };
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "ok": !self.wrong(),
            "policy": part(&self.policy),
            "mode": part(&self.mode),
            "record": part(&self.record),
            "webhooks": self.webhooks.as_ref().map(part),
            "hold": self.machine.as_json(),
            "level": {"name": "tripwire", "attacker": self.attacker},
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }

    fn as_text(&self, paint: Paint, places: &Places) -> String {
        let good = |text: &str| paint.verdict(Verdict::Allow, text);
        let bad = |text: &str| paint.verdict(Verdict::Deny, text);
        let mut text = String::new();
        let hold = self.machine.in_a_line();
        let parts = [
            ("policy", Some(&self.policy)),
            ("mode", Some(&self.mode)),
            ("record", Some(&self.record)),
            ("webhooks", self.webhooks.as_ref()),
            ("hold", Some(&hold)),
        ];
        for (name, part) in parts.into_iter().filter_map(|(name, part)| Some((name, part?))) {
            let line = match part {
                Ok(said) => format!("{}     {}", good("ok"), visible(said)),
                Err(said) => format!("{}  {}", bad("wrong"), visible(said)),
            };
            text.push_str(&format!("{name:<8} {line}\n"));
        }
        for checked in &self.agents {
            let title = match checked.found.as_ref().and_then(|found| found.version.as_ref()) {
                Some(version) => format!("{} {version}", checked.agent.title()),
                None => checked.agent.title().to_owned(),
            };
            text.push_str(&format!("\n{}\n", paint.bold(&title)));
            if checked.registrations.is_empty() {
                let how = format!("not guarded. Run: sayso install {}", checked.agent);
                text.push_str(&format!("  {}\n", if self.named { bad(&how) } else { how }));
            }
            for it in &checked.registrations {
                let word = match (it.in_force, it.findings.is_empty()) {
                    (true, true) => good("ok   "),
                    (true, false) => bad("wrong"),
                    (false, _) => bad("off  "),
                };
                let path = places.shown(&it.path);
                text.push_str(&format!("  {word}  {:<8} {}\n", it.scope.name(), visible(&path)));
                for finding in &it.findings {
                    text.push_str(&format!("         {} [{}]\n", visible(&finding.text), finding.code));
                }
            }
            for finding in &checked.findings {
                text.push_str(&format!("  {}  {} [{}]\n", bad("wrong"), visible(&finding.text), finding.code));
            }
            if let Some(live) = &checked.live {
                let word = if *live == Live::Denied { good("live ") } else { bad("live ") };
                text.push_str(&format!("  {word}  {}\n", visible(&live::in_words(live))));
            }
            match &checked.held {
                Some(Ok(level)) => {
                    let said = format!("commands were seen to run held ({})", level_name(*level));
                    text.push_str(&format!("  {}  {said}\n", good("held ")));
                }
                Some(Err(why)) => text.push_str(&format!("  {}  not held: {}\n", bad("held "), visible(why))),
                None => {}
            }
            if checked.guarded() {
                for hole in checked.agent.not_covered() {
                    text.push_str(&format!("  {}\n", paint.dim(&format!("beyond  {hole}"))));
                }
            }
        }
        if self.agents.is_empty() {
            text.push_str("\nNo agents found on PATH, and none have Sayso in their settings.\n");
        }
        text.push_str(&format!(
            "\n{}  Sayso runs as the same user as the agent. {}\n",
            paint.bold("Tripwire"),
            strength::MEANING
        ));
        if !self.attacker.is_empty() {
            text.push_str("Code that was allowed to run could still:\n");
            for deed in &self.attacker {
                text.push_str(&format!("  - {}\n", visible(deed)));
            }
        }
        text
    }
}

/// What this machine can hold, tried once, and which guarded agents run held, looked at now.
pub(crate) fn hold_status(places: &Places) -> HoldStatus {
    static LEVEL: OnceLock<&'static str> = OnceLock::new();
    let level = *LEVEL.get_or_init(|| Machine::look().level());
    let project = std::env::current_dir().unwrap_or_default();
    let program = this_program().unwrap_or_default();
    let guarded = Agent::ALL.iter().copied().filter(|agent| agent.has_hooks()).filter(|agent| {
        let setting = Setting::here(Scope::User, places.clone(), project.clone(), program.clone()).of(*agent);
        registrations(*agent, &setting).iter().any(|registration| registration.in_force)
    });
    let one = |agent: Agent| {
        let (held, why) = match holds(agent, places) {
            Ok(level) => (Some(level_word(level)), None),
            Err(why) => (None, Some(why)),
        };
        HeldAgent { agent: agent.to_string(), held: held.flatten().map(str::to_owned), why }
    };
    HoldStatus { level: level.to_owned(), agents: guarded.map(one).collect() }
}

fn level_word(level: CanHold) -> Option<&'static str> {
    match level {
        CanHold::Whole => Some("whole"),
        CanHold::Files => Some("files"),
        CanHold::No => None,
    }
}
