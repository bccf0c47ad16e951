//! `sayso policy diff`: what a change of policy means.

use super::find;
use crate::choice::compile;
use crate::command::log::time::moment;
use crate::command::past;
use crate::failure::{Failure, Outcome};
use crate::judge;
use crate::show::{paint::Paint, verdict::who};
use sayso_gate::audit::{Log, PolicyVersion};
use sayso_gate::history::Flips;
use sayso_gate::{Home, InForce, Places, ProcessEnvironment, RealFiles, policy, unified};
use sayso_policy::compare::{Compared, Proof, Side, Witness, compare};
use sayso_policy::explain::visible;
use sayso_policy::shell::Verb;
use sayso_policy::{Decision, Facts, Layer, Policy, PolicyText};
use serde_json::{Value, json};
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Show what a change of policy means: the text, the smallest call that is judged differently, and real calls that are.
///
/// A policy is a version or the start of one, a policy file, preset:NAME, or REV:PATH from git. Calls are made from the
/// patterns of both policies; each is judged by both before it is shown. If no call is found that the later policy
/// judges less strictly, the last line says whether that is a proof.
///
/// Exit code: 0 no such call found, 4 the later policy is looser, 3 undecided: a change could loosen, and not everything it
/// might mean was tried.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso policy diff 7c1e9a4be2d05f31              from that version to the policy in force
  sayso policy diff HEAD:.sayso.toml .sayso.toml  what the edit means
  sayso policy diff --no-looser main:.sayso.toml .sayso.toml      in CI
  sayso policy diff preset:developer new.toml --on record --since 30d")]
pub(super) struct Diff {
    /// The earlier policy: a version, a file, preset:NAME or REV:PATH
    from: String,
    /// The later policy [default: the policy in force here]
    to: Option<String>,
    /// Judge these calls by both policies too: the record, the agents' transcripts, or a file with one JSON object per line, as
    /// `check --jsonl` reads
    #[arg(long, value_name = "record|transcripts|FILE")]
    on: Option<String>,
    /// Only calls since then: 15m, 8h or 7d ago, or a date such as 2026-11-15
    #[arg(long, value_name = "TIME", value_parser = moment, requires = "on")]
    since: Option<u64>,
    /// Show only what the later policy loosens
    #[arg(long)]
    no_looser: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A policy and what it is made of.
struct Policies {
    policy: Policy,
    texts: Vec<PolicyText>,
    version: PolicyVersion,
}

impl Policies {
    fn of(texts: Vec<PolicyText>) -> Result<Self, Failure> {
        let policy = compile(&texts)?;
        let version = PolicyVersion::new(policy.version(), &texts);
        Ok(Self { policy, texts, version })
    }

    fn side(&self) -> Side<'_> {
        Side { policy: &self.policy, texts: &self.texts }
    }
}

/// Runs it.
pub(super) fn run(diff: &Diff) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let old = named(&places, &diff.from)?;
    let new = match &diff.to {
        Some(name) => named(&places, name)?,
        None => {
            let here = std::env::current_dir()?.canonicalize()?;
            Policies::of(InForce::load(&places, Some(&here)).map_err(judge::refused)?.files)?
        }
    };
    let text = text_changes(&old, &new);
    let compared = compare(old.side(), new.side());
    let flips = match &diff.on {
        Some(on) => Some(flips(&places, diff, on, &old.policy, &new.policy)?),
        None => None,
    };
    let mut out = stdout().lock();
    if diff.json {
        let shown = json!({
            "identical": text.is_empty(), "changed": compared.changed, "tried": compared.tried,
            "looser": compared.looser.as_ref().map(witness), "stricter": compared.stricter.as_ref().map(witness),
            "proof": proof_code(&compared.proof), "open": open(&compared.proof), "calls": flips,
        });
        writeln!(out, "{shown:#}")?;
    } else {
        out.write_all(shown(diff, &text, &compared, flips.as_ref()).as_bytes())?;
    }
    let looser = compared.looser.is_some() || flips.as_ref().is_some_and(Flips::is_looser);
    Ok(match (looser, &compared.proof) {
        (true, _) => ExitCode::from(4),
        (false, Proof::Open(_)) => ExitCode::from(3),
        (false, _) => ExitCode::SUCCESS,
    })
}

/// A policy by what it was called.
fn named(places: &Places, name: &str) -> Result<Policies, Failure> {
    if name.starts_with("preset:") || Path::new(name).is_file() {
        return Policies::of(vec![crate::choice::text(name)?]);
    }
    if name.contains(':') {
        return Policies::of(vec![from_git(name)?]);
    }
    if name.contains(['/', '.']) {
        return Err(Failure::wrong(format!("error: there is no policy file {name}")));
    }
    let log = Log::open(places)?;
    log.fold()?;
    Policies::of(find(&log, name)?.texts())
}

/// A file as a commit has it.
fn from_git(name: &str) -> Result<PolicyText, Failure> {
    let wrong =
        |why: &str| Failure::wrong(format!("error: cannot read {name} from git: {why}\n\n  Try: HEAD:.sayso.toml"));
    if name.starts_with('-') {
        return Err(wrong("a revision does not begin with `-`"));
    }
    let asked = Command::new("git").args(["cat-file", "blob", name]).output();
    let output = asked.map_err(|error| wrong(&error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("git failed").to_owned();
        return Err(wrong(&visible(&said)));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| wrong("it is not text"))?;
    Ok(PolicyText { layer: Layer::Given, name: name.to_owned(), text, trusted: true })
}

/// What changed in the texts.
fn text_changes(old: &Policies, new: &Policies) -> String {
    match (old.texts.as_slice(), new.texts.as_slice()) {
        // Two files are compared with each other, whatever they are called.
        ([before], [after]) if before.text == after.text => String::new(),
        ([before], [after]) => {
            let diff = unified(&after.name, Some(&before.text), Some(&after.text));
            diff.replacen(&format!("--- {}\n", after.name), &format!("--- {}\n", before.name), 1)
        }
        _ => policy::difference(&old.version, &new.version),
    }
}

/// What both policies say of real calls.
fn flips(places: &Places, diff: &Diff, on: &str, old: &Policy, new: &Policy) -> Result<Flips, Failure> {
    let calls = past::calls(places, on, diff.since)?;
    let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
    Ok(Flips::of(old, new, &calls, facts))
}

fn shown(diff: &Diff, text: &str, compared: &Compared, flips: Option<&Flips>) -> String {
    let paint = Paint::for_stdout();
    let mut out = String::new();
    if !diff.no_looser {
        out.extend(text.lines().map(|line| format!("{}\n", visible(line))));
    }
    if text.is_empty() && compared.proof == Proof::Same {
        return out;
    }
    let sides = [("Looser", &compared.looser, true), ("Stricter", &compared.stricter, !diff.no_looser)];
    for (title, found, wanted) in sides {
        if let (Some(found), true) = (found, wanted) {
            out.push_str(&format!("\n{}  {}\n", paint.bold(title), visible(&found.shown())));
            out.push_str(&format!("    was  {}\n", said(paint, &found.old)));
            out.push_str(&format!("    now  {}\n", said(paint, &found.new)));
        }
    }
    if let Some(flips) = flips {
        out.push_str(&flips_shown(paint, diff.no_looser, flips));
    }
    if compared.looser.is_none() {
        out.push_str(&format!("\n{}\n", proof_shown(&compared.proof, compared.tried)));
    }
    out
}

fn said(paint: Paint, decision: &Decision) -> String {
    let verdict = paint.verdict(decision.verdict, &format!("{:<5}", decision.verdict.as_str()));
    match decision.reasons.first() {
        Some(reason) => format!("{verdict}  {}  [{}]", who(reason), visible(reason.code.as_str())),
        None => verdict,
    }
}

pub(super) fn flips_shown(paint: Paint, no_looser: bool, flips: &Flips) -> String {
    let wanted: Vec<_> = flips.flips.iter().filter(|flip| flip.is_looser() || !no_looser).collect();
    let changed: usize = wanted.iter().map(|flip| flip.calls).sum();
    let mut out = format!("\n{changed} of {} calls are judged differently.\n", flips.calls);
    for flip in wanted {
        let (old, new) = (flip.old.verdict, flip.new.verdict);
        let arrow = format!("{} -> {}", paint.verdict(old, old.as_str()), paint.verdict(new, new.as_str()));
        let decided = flip.new.source.as_ref().unwrap_or(&flip.new.layer);
        let refused = if flip.refused > 0 { format!(", {} refused by people", flip.refused) } else { String::new() };
        out.push_str(&format!(
            "  {:>6}  {arrow}  {}  [{}]{refused}\n",
            flip.calls,
            visible(decided),
            visible(&flip.new.code)
        ));
        out.extend(flip.examples.iter().map(|example| format!("            {}\n", visible(example))));
    }
    out
}

/// For what "none found" is a proof.
fn proof_shown(proof: &Proof, tried: usize) -> String {
    match proof {
        Proof::Same => "The rules are the same, so every call is judged as before.".to_owned(),
        Proof::OnlyTightens => "Nothing is looser: every change adds a restriction or removes an allow.".to_owned(),
        Proof::Exhausted(verbs) => {
            let verbs: Vec<&str> =
                verbs.iter().map(|verb| if *verb == Verb::Call { "tool" } else { verb.as_str() }).collect();
            format!("Nothing is looser: every overlap of the `{}` patterns was tried.", verbs.join("` and `"))
        }
        Proof::Open(open) => {
            let more = open.len().saturating_sub(3);
            let named: Vec<_> = open.iter().take(3).map(|it| visible(it)).collect();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "No looser call was found among {tried}, which is not a proof. These changes could loosen: {}{more}.",
                named.join(", ")
            )
        }
    }
}

fn proof_code(proof: &Proof) -> &'static str {
    match proof {
        Proof::Same => "same",
        Proof::OnlyTightens => "only-tightens",
        Proof::Exhausted(_) => "exhausted",
        Proof::Open(_) => "open",
    }
}

fn open(proof: &Proof) -> &[String] {
    if let Proof::Open(open) = proof { open } else { &[] }
}

fn witness(found: &Witness) -> Value {
    let said = |decision: &Decision| json!({ "verdict": decision.verdict.as_str(), "reasons": decision.reasons });
    json!({ "call": found.shown(), "old": said(&found.old), "new": said(&found.new) })
}
