//! `sayso history`: what the agents' own transcripts say about prompts, before anything is installed.

use crate::choice::PolicyChoice;
use crate::command::install::failure;
use crate::command::log::time::moment;
use crate::command::past;
use crate::failure::{Failure, Outcome};
use crate::{judge, operator};
use sayso_agents::Agent;
use sayso_agents::reconcile::Transcripts;
use sayso_gate::audit::Log;
use sayso_gate::history::{Ask, Outcome as Ended, PastCall, Proposal, Rulebook, Said, proposals};
use sayso_gate::policy::{self, Putting};
use sayso_gate::{Home, InForce, KeptFiles, Places, ProcessEnvironment, unified};
use sayso_policy::explain::visible;
use sayso_policy::{Facts, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Proposals that are made.
const MOST_PROPOSALS: usize = 10;
/// Rules and calls that are listed.
const SHOWN: usize = 10;
/// Workspaces that are judged by a policy of their own.
const MOST_WORKSPACES: usize = 64;

/// Judge the calls in your agents' transcripts by a policy, and suggest rules that would avoid most prompts.
///
/// Reads the transcripts of Claude Code, Codex, Gemini CLI, Copilot CLI and OpenCode. Nothing needs to be installed, nothing
/// is recorded and no file is changed, except with --write, which appends the suggested rules to your policy file after you
/// confirm.
///
/// Each suggestion counts the prompts it avoids beyond those above it, how often people refused such a call, and the widest
/// call it would also allow. None is made from calls that were refused, for programs that run whatever they are given,
/// or against a rule that asks or denies.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso history                                    with the policy in force, or else the preset developer
  sayso history claude-code --since 30d
  sayso history record                             what Sayso itself recorded
  sayso history --policy preset:read-only --json
  sayso history --write                            append the suggestions to your policy file")]
pub(crate) struct History {
    /// The agent, or `record` for Sayso's own record [default: all agents that keep transcripts]
    #[arg(value_parser = crate::completing::Completes::agents(), hide_possible_values = true)]
    agent: Option<String>,
    /// Only calls since then: 15m, 8h or 7d ago, or a date such as 2026-11-15
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Append the suggested rules to your policy file, after you confirm the change
    #[arg(long, conflicts_with_all = ["json", "policy"])]
    write: bool,
    /// Copy the transcripts to this folder, before the agent deletes them
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyChoice,
}

/// What was read of one agent.
#[derive(Debug, Serialize)]
struct OfAgent {
    agent: &'static str,
    transcripts: usize,
    sessions: usize,
    calls: usize,
    refused: usize,
    failed: usize,
    /// Files, lines and records that could not be read.
    unreadable: usize,
    /// What could not be read, and why.
    skipped: Vec<String>,
}

/// How long people were waited for, as far as transcripts tell.
#[derive(Debug, Default, Serialize)]
struct Waits {
    calls: usize,
    total_ms: u64,
    longest_ms: u64,
}

/// What asked, and how often.
#[derive(Debug, Serialize)]
struct Asked {
    #[serde(flatten)]
    by: Said,
    calls: usize,
    refused: usize,
}

/// A call that people refused.
#[derive(Debug, Serialize)]
struct Refused {
    call: String,
    times: usize,
    /// What the policy says of it.
    verdict: Verdict,
}

/// What history teaches.
#[derive(Debug, Serialize)]
struct Report {
    agents: Vec<OfAgent>,
    calls: usize,
    sessions: usize,
    waits: Waits,
    verdicts: BTreeMap<&'static str, usize>,
    asked: Vec<Asked>,
    refused: Vec<Refused>,
    proposals: Vec<Proposal>,
    /// Prompts that are left with all of them.
    asks_left: usize,
    /// Of the prompts, how many go away where runs are held to the policy's bounds.
    held: usize,
}

/// Runs it.
pub(crate) fn run(history: &History) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let (agents, calls) = read(history, &places)?;
    let report = judged(history, &places, agents, &calls)?;
    if history.json {
        writeln!(stdout(), "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        stdout().write_all(shown(&report, history.write).as_bytes())?;
    }
    if history.write {
        write(&places, &report.proposals)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The calls in the transcripts.
fn read(history: &History, places: &Places) -> Result<(Vec<OfAgent>, Vec<PastCall>), Failure> {
    if history.agent.as_deref() == Some("record") {
        return of_record(history, places);
    }
    let agents: Vec<Agent> = match &history.agent {
        Some(name) => vec![name.parse().map_err(failure)?],
        None => Agent::ALL.to_vec(),
    };
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let transcripts = Transcripts { home: places.home.clone(), variable, since_ms: history.since.unwrap_or(0) };
    let (mut found, mut calls) = (Vec::new(), Vec::new());
    for agent in agents {
        let Some(past) = transcripts.history(agent) else {
            if history.agent.is_some() {
                return Err(Failure::wrong(format!(
                    "error: {} keeps no transcripts that Sayso can read",
                    agent.title()
                )));
            }
            continue;
        };
        if let Some(folder) = &history.keep {
            keep(&folder.join(agent.name()), &places.home, &past.files)?;
        }
        let sessions: BTreeSet<&Option<String>> = past.calls.iter().map(|past| &past.call.actor.session).collect();
        let ended = |outcome| past.calls.iter().filter(|past| past.outcome == outcome).count();
        found.push(OfAgent {
            agent: agent.name(),
            transcripts: past.files.len(),
            sessions: sessions.len(),
            calls: past.calls.len(),
            refused: ended(Ended::Refused),
            failed: ended(Ended::Failed),
            unreadable: past.unreadable,
            skipped: past.skipped,
        });
        calls.extend(past.calls);
    }
    Ok((found, calls))
}

/// The calls of Sayso's own record.
fn of_record(history: &History, places: &Places) -> Result<(Vec<OfAgent>, Vec<PastCall>), Failure> {
    if history.keep.is_some() {
        return Err(Failure::wrong("error: --keep copies transcripts; the record is Sayso's own"));
    }
    let found = past::recorded(places, history.since)?;
    let sessions: BTreeSet<&Option<String>> = found.calls.iter().map(|past| &past.call.actor.session).collect();
    let ended = |outcome| found.calls.iter().filter(|past| past.outcome == outcome).count();
    let skipped = match found.less {
        0 => Vec::new(),
        less => vec![format!("{less} records hold less than their call: secrets were removed, or they were too long.")],
    };
    let of = OfAgent {
        agent: "record",
        transcripts: 0,
        sessions: sessions.len(),
        calls: found.calls.len(),
        refused: ended(Ended::Refused),
        failed: ended(Ended::Failed),
        unreadable: found.less,
        skipped,
    };
    Ok((vec![of], found.calls))
}

/// Copies transcripts, each under the path that it has below the home folder.
fn keep(folder: &Path, home: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    for file in files {
        let below = file.strip_prefix(home).or_else(|_| file.strip_prefix("/")).unwrap_or(file);
        let to = folder.join(below);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(file, &to)?;
    }
    Ok(())
}

/// Judges the calls.
fn judged(history: &History, places: &Places, agents: Vec<OfAgent>, calls: &[PastCall]) -> Result<Report, Failure> {
    let files = KeptFiles::here();
    let facts = Facts { files: &files, env: &ProcessEnvironment };
    let mut policies = Policies::new(history, places)?;
    let mut known: HashMap<String, (Said, Option<usize>)> = HashMap::new();
    let mut asks: Vec<Ask> = Vec::new();
    let mut verdicts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut asked: BTreeMap<Said, (usize, usize)> = BTreeMap::new();
    let mut refused: BTreeMap<(String, Verdict), usize> = BTreeMap::new();
    let mut waits = Waits::default();
    for past in calls {
        let is_refused = past.outcome == Ended::Refused;
        let likeness = past.likeness();
        let (said, ask) = match known.get(&likeness) {
            Some(known) => known.clone(),
            None => {
                let number = policies.number(past.call.workspace.root())?;
                let Some(in_force) = policies.all.get(number) else { continue };
                let (operation, decision) = past.judge(&in_force.policy, facts);
                let said = Said::of(&decision);
                let ask = (said.verdict == Verdict::Ask).then_some(asks.len());
                if ask.is_some() {
                    let past = past.clone();
                    asks.push(Ask { past, operation, decision, policy: number, calls: 0, refused: 0 });
                }
                known.insert(likeness, (said.clone(), ask));
                (said, ask)
            }
        };
        if let Some(ask) = ask.and_then(|at| asks.get_mut(at)) {
            ask.calls += 1;
            ask.refused += usize::from(is_refused);
            let count = asked.entry(said.clone()).or_default();
            *count = (count.0 + 1, count.1 + usize::from(is_refused));
        }
        if is_refused {
            *refused.entry((past.shown(), said.verdict)).or_default() += 1;
        }
        if let Some(waited) = past.waited_ms {
            waits.calls += 1;
            waits.total_ms = waits.total_ms.saturating_add(waited);
            waits.longest_ms = waits.longest_ms.max(waited);
        }
        *verdicts.entry(said.verdict.as_str()).or_default() += 1;
    }
    let holds = |ask: &&Ask| {
        let policy = policies.all.get(ask.policy).map(|it| &it.policy);
        policy
            .is_some_and(|it| ask.past.clone().held().judge_again(it, &ask.operation, facts).verdict == Verdict::Allow)
    };
    let held = asks.iter().filter(holds).map(|ask| ask.calls).sum();
    let rulebook = Rulebook::new(places, policies.all);
    let proposals = proposals(&asks, &rulebook, MOST_PROPOSALS, facts);
    let before: usize = asks.iter().map(|ask| ask.calls).sum();
    let saved: usize = proposals.iter().map(|it| it.saved).sum();
    let mut asked: Vec<Asked> = asked.into_iter().map(|(by, (calls, refused))| Asked { by, calls, refused }).collect();
    asked.sort_by_key(|it| std::cmp::Reverse(it.calls));
    let mut refused: Vec<Refused> =
        refused.into_iter().map(|((call, verdict), times)| Refused { call, times, verdict }).collect();
    refused.sort_by_key(|it| std::cmp::Reverse(it.times));
    Ok(Report {
        calls: calls.len(),
        sessions: agents.iter().map(|it| it.sessions).sum(),
        agents,
        waits,
        verdicts,
        asked,
        refused,
        proposals,
        asks_left: before - saved,
        held,
    })
}

/// The policies that calls are judged by.
struct Policies<'a> {
    places: &'a Places,
    given: bool,
    all: Vec<Arc<InForce>>,
    by_workspace: HashMap<Option<PathBuf>, usize>,
}

impl<'a> Policies<'a> {
    fn new(history: &History, places: &'a Places) -> Result<Self, Failure> {
        let given = history.policy.policy()?;
        let is_given = given.is_some();
        let first = match given {
            Some(given) => given,
            None => InForce::load(places, None).map_err(judge::refused)?,
        };
        Ok(Self { places, given: is_given, all: vec![Arc::new(first)], by_workspace: HashMap::new() })
    }

    /// The number of the policy of a workspace.
    fn number(&mut self, workspace: Option<&Path>) -> Result<usize, Failure> {
        if self.given {
            return Ok(0);
        }
        let key = workspace.map(Path::to_owned);
        if let Some(number) = self.by_workspace.get(&key) {
            return Ok(*number);
        }
        let loaded = InForce::load(self.places, workspace).map_err(judge::refused)?;
        // Most projects have no file of their own: they share what is in force everywhere.
        let same = self.all.iter().position(|known| known.policy.version() == loaded.policy.version());
        let number = match same {
            Some(number) => number,
            None if self.all.len() >= MOST_WORKSPACES => 0,
            None => {
                self.all.push(Arc::new(loaded));
                self.all.len() - 1
            }
        };
        self.by_workspace.insert(key, number);
        Ok(number)
    }
}

fn shown(report: &Report, writes: bool) -> String {
    let mut out = String::new();
    for of in &report.agents {
        out.push_str(&format!(
            "{:<12} {:>13} in {}, {} refused, {} failed\n",
            of.agent,
            many(of.calls, "call"),
            many(of.sessions, "session"),
            of.refused,
            of.failed
        ));
        out.extend(of.skipped.iter().map(|skipped| format!("  note: {}\n", visible(skipped))));
    }
    if report.calls == 0 {
        out.push_str("\nNo calls found. Nothing was changed.\n");
        return out;
    }
    if report.waits.calls > 0 {
        let seconds = |ms: u64| ms / 1000;
        out.push_str(&format!(
            "\n{} waited {} s for a person, the longest {} s.\n",
            many(report.waits.calls, "call"),
            seconds(report.waits.total_ms),
            seconds(report.waits.longest_ms)
        ));
    }
    let count = |verdict: Verdict| report.verdicts.get(verdict.as_str()).copied().unwrap_or_default();
    out.push_str(&format!(
        "\nWith this policy: {} allowed, {} asked, {} denied.\n",
        count(Verdict::Allow),
        count(Verdict::Ask),
        count(Verdict::Deny)
    ));
    for it in report.asked.iter().take(SHOWN) {
        let place = it.by.source.as_ref().unwrap_or(&it.by.layer);
        out.push_str(&format!("  {:>6} asked by {}  [{}]\n", it.calls, visible(place), visible(&it.by.code)));
    }
    let allowed: Vec<&Refused> = report.refused.iter().filter(|it| it.verdict == Verdict::Allow).collect();
    if !allowed.is_empty() {
        out.push_str("\nPeople refused these, and this policy would allow them:\n");
        let lines = allowed.iter().take(SHOWN).map(|it| format!("  {:>6} {}\n", it.times, visible(&it.call)));
        out.extend(lines);
    }
    if report.proposals.is_empty() {
        out.push_str("\nNo rule would avoid any of these prompts.\n");
        return out;
    }
    out.push_str("\nRules that would avoid most prompts, each counted on top of those above it:\n");
    for (number, it) in report.proposals.iter().enumerate() {
        let refused = if it.refused > 0 { format!(", {} of them refused", it.refused) } else { String::new() };
        out.push_str(&format!("\n  {}. avoids {}{refused}\n", number + 1, many(it.saved, "prompt")));
        out.extend(it.rule.lines().map(|line| format!("     {}\n", visible(line))));
        if let Some(widest) = &it.widest {
            out.push_str(&format!("     also allows  {}\n", visible(widest)));
        }
    }
    out.push_str(&format!("\n{} left with all of them.\n", many(report.asks_left, "prompt")));
    if report.held > 0 {
        out.push_str(&format!(
            "{} go away where such runs are held: see `sayso doctor` and `sayso run`.\n",
            many(report.held, "prompt")
        ));
    }
    if !writes {
        out.push_str("Next:  sayso history --write     append these rules to your policy file\n");
    }
    out
}

/// `1 call`, `2 calls`.
fn many(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn write(places: &Places, proposals: &[Proposal]) -> Result<(), Failure> {
    if proposals.is_empty() {
        return Ok(());
    }
    append(places, &proposals.iter().map(|it| it.rule.as_str()).collect::<Vec<_>>().join("\n"))
}

/// Appends rules to the owner's policy file, with the owner's yes.
pub(crate) fn append(places: &Places, rules: &str) -> Result<(), Failure> {
    let before = std::fs::read_to_string(&places.user).ok();
    // Who has no file yet begins one with the preset that was in force without it.
    let begin = before.clone().unwrap_or_else(|| "extends = [\"developer\"]\n".to_owned());
    let after = format!("{}\n\n{rules}", begin.trim_end());
    let name = places.shown(&places.user);
    let change: String =
        unified(&name, before.as_deref(), Some(&after)).lines().map(|line| format!("{}\n", visible(line))).collect();
    let person = operator::confirmed(places, &format!("\n{change}\n{name} will be changed as shown."))?;
    let log = Log::open(places)?;
    let here = std::env::current_dir()?;
    let putting = Putting { by: &person.name, from: None, base: None };
    policy::put(places, log.store().as_ref(), Some(&here), &after, &putting)?;
    writeln!(stdout(), "{name} is changed. `sayso policy versions` lists what to go back to.")?;
    Ok(())
}
