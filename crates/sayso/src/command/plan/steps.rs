//! The steps of a plan, from the lines of a file.

use crate::failure::Failure;
use crate::input::call::Circumstances;
use sayso_gate::plan::{MOST_STEPS, PlannedCall};
use sayso_gate::wire::{self, CallEnvironment, line};
use sayso_gate::{ProcessEnvironment, RealFiles};
use sayso_policy::shell::dialect::InShell;
use sayso_policy::{Actor, ToolCall};
use std::io::Read as _;

/// The longest file that is read.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Whose words the lines are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The owner's: what they say of the environment replaces what is so here.
    Owner,
    /// Those of whoever will make the calls: what they say only adds.
    Caller,
}

/// Reads the file. What a line does not say is as the options say, or as it is here.
pub(super) fn read(file: &str, circumstances: &Circumstances, whose: Whose) -> Result<Vec<PlannedCall>, Failure> {
    let text = bytes(file)?;
    let wrong = |number: usize, why: &str| Failure::wrong(format!("error: {file}:{number}: {why}"));
    let mut calls = Vec::new();
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if calls.len() >= MOST_STEPS {
            return Err(wrong(number, &format!("a plan has at most {MOST_STEPS} steps")));
        }
        let call = line::read(line).1.and_then(|fields| call(&fields, circumstances, whose));
        let (call, env) = call.map_err(|why| wrong(number, &why))?;
        let env = InShell { env, shells: circumstances.shell.unwrap_or_default() };
        calls.push(PlannedCall { call, env: Box::new(env) });
    }
    Ok(calls)
}

fn bytes(file: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = match file {
        "-" => std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut text),
        _ => std::fs::File::open(file).and_then(|open| open.take(MOST_BYTES + 1).read_to_end(&mut text)),
    };
    read.map_err(|error| Failure::wrong(format!("error: cannot read {file}: {error}")))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Failure::wrong(format!("error: {file} is larger than 4 MiB, which no plan is")));
    }
    Ok(text)
}

fn call(
    fields: &line::Fields,
    circumstances: &Circumstances,
    whose: Whose,
) -> Result<(ToolCall, CallEnvironment), String> {
    fields.only(&wire::OF_A_CALL)?;
    let (mut call, env) = match whose {
        Whose::Owner => wire::call(fields)?,
        Whose::Caller => wire::call_in(fields, &RealFiles)?,
    };
    let stated = circumstances.call(call.request.clone()).map_err(|failure| failure.to_string())?;
    let given = Actor { subagent: false, ..call.actor.clone() } != Actor::default();
    if !given {
        call.actor = stated.actor;
    }
    if !fields.has("cwd") {
        call.cwd = stated.cwd;
    }
    if circumstances.workspace.is_some() && !fields.has("workspace") || !fields.has("workspace") && !fields.has("cwd") {
        let root = stated.workspace.root().map(std::path::Path::to_path_buf);
        if let Some(root) = root {
            call.workspace = wire::workspace_of(&RealFiles, &root, &call, &env);
        }
    }
    if whose == Whose::Owner && call.home.is_none() {
        call.home = wire::home(&ProcessEnvironment);
    }
    Ok((call, env))
}
