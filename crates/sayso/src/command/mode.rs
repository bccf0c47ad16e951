//! `sayso mode`: halt now, or loosen for a while.

use crate::command::log::time::{now_ms, shown as time, span};
use crate::failure::{Failure, Outcome};
use crate::{judge, operator};
use sayso_gate::mode::{Switch, end, in_force, switch};
use sayso_gate::{EffectiveMode, Home, InForce, Memory, Places};
use sayso_policy::Person;
use sayso_policy::explain::visible;
use sayso_policy::text::Mode as Run;
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// Show or switch the mode for all policy files.
///
/// `halt` denies everything immediately. The other modes loosen enforcement, so they need a reason, an end within 24
/// hours, and an interactive terminal: `dry-run` runs nothing and returns stubs, `shadow` lets everything pass and
/// records what would have been decided, `off` leaves only the record and the protection of Sayso itself. Every switch
/// is recorded.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso mode                                         what is in force
  sayso mode halt                                    stop everything now
  sayso mode off --for 30m --because 'site is down'  break the glass
  sayso mode enforce                                 back to what the policy says")]
pub(crate) struct Mode {
    /// halt, dry-run, shadow, off, or enforce
    #[arg(value_parser = ["halt", "dry-run", "shadow", "off", "enforce"])]
    mode: Option<String>,
    /// How long: 90s, 15m, 8h; at most 24h
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    lasts: Option<Duration>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(crate) fn run(command: &Mode) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let memory = Memory::of(&places);
    let Some(word) = &command.mode else { return show(&places, command.json) };
    let wanted = match word.as_str() {
        "halt" => Run::Halt,
        "dry-run" => Run::DryRun,
        "shadow" => Run::Shadow,
        "off" => Run::Off,
        _ => Run::Enforce,
    };
    if wanted == Run::Enforce {
        let person = operator::confirmed(&places, "Each policy file's own mode will be in force again.")?;
        end(&memory, &person)?;
        return show(&places, command.json);
    }
    // To stop is everybody's right; to loosen is not.
    let because = command.because.clone();
    let (person, why) = if wanted == Run::Halt {
        (Person::named(operator::user_name()), because.unwrap_or_else(|| "halted by hand".to_owned()))
    } else {
        let because = because.ok_or_else(|| {
            Failure::wrong(format!(
                "error: `{word}` needs a reason and a time limit\n\n  Try: sayso mode {word} --for 30m --because 'why'"
            ))
        })?;
        let asks = format!("The mode will be `{word}` for all of this user's agents: {}", visible(&because));
        (operator::confirmed(&places, &asks)?, because)
    };
    let since_ms = now_ms();
    let lasts = command.lasts.map(|lasts| u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX));
    let until_ms = lasts.map(|lasts| since_ms.saturating_add(lasts));
    // A halt asks nobody: it must work while a policy cannot be loaded.
    let pinned = wanted != Run::Halt && InForce::load(&places, None).map_err(judge::refused)?.policy.mode_is_pinned();
    let switched = Switch { mode: wanted, by: person, why, since_ms, until_ms };
    switch(&memory, &switched, pinned).map_err(|error| match error {
        sayso_gate::Error::Mode(why) => {
            Failure::wrong(format!("error: {why}\n\n  Try: sayso mode {word} --for 30m --because 'why'"))
        }
        error => error.into(),
    })?;
    show(&places, command.json)
}

fn show(places: &Places, json: bool) -> Outcome {
    let mut out = stdout().lock();
    let found = in_force(places, now_ms());
    if json {
        // A policy that cannot be loaded must not hide a switch.
        let mode = match InForce::load(places, std::env::current_dir().ok().as_deref()) {
            Ok(in_force) => Some(EffectiveMode::of(&in_force.policy, found.as_ref())),
            Err(_) => found.as_ref().map(EffectiveMode::switched),
        };
        serde_json::to_writer(&mut out, &serde_json::json!({ "mode": mode, "switch": found }))?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    match found {
        None => writeln!(out, "enforce: each policy file's own mode applies.")?,
        Some(switch) => {
            let until =
                switch.until_ms.map_or("until someone ends it".to_owned(), |until| format!("until {}", time(until)));
            let by = visible(&switch.by.name).into_owned();
            writeln!(
                out,
                "{}: since {} by {by}, {until}: {}",
                switch.mode.as_str(),
                time(switch.since_ms),
                visible(&switch.why)
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
