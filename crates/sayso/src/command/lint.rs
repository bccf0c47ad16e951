//! `sayso lint`: is this policy file in order?

use crate::failure::{Failure, Outcome};
use crate::judge;
use crate::show::agents::this_program;
use sayso_agents::Agent;
use sayso_agents::install::{Scope, Setting, registrations};
use sayso_gate::{Home, Places};
use sayso_policy::text::{File, Problem, StatedRoles, lint_roles};
use sayso_policy::{Policy, PolicyText, Stated};
use sayso_server::Tokens;
use serde_json::{Value, json};
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// Check a policy file and report every problem in it.
///
/// Without FILE, it checks the files in force here. A file with an error is rejected as a whole, and the previous
/// version stays in force. Exit code: 0 valid (possibly with warnings), 2 rejected.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso lint
  sayso lint .sayso.toml
  sayso lint ~/.config/sayso/programs/ship.prog")]
pub(crate) struct Lint {
    /// Policy file, or a text about programs (*.prog)
    file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(crate) fn run(lint: &Lint) -> Outcome {
    let texts = judge::files_or_in_force(lint.file.as_deref())?;
    let errors = Policy::compile(&texts).err().unwrap_or_default();
    let warnings = if errors.is_empty() { warnings(&texts)? } else { Vec::new() };
    if lint.json {
        let valid = errors.is_empty();
        let problems = errors.iter().chain(&warnings).map(as_json);
        let files: Vec<&str> = texts.iter().map(|text| text.name.as_str()).collect();
        let object = json!({"valid": valid, "files": files, "problems": problems.collect::<Vec<_>>()});
        writeln!(stdout(), "{object:#}")?;
        return Ok(if valid { ExitCode::SUCCESS } else { ExitCode::from(2) });
    }
    if !errors.is_empty() {
        return Err(Failure::wrong(judge::rendered(&errors, &texts)));
    }
    let mut out = stdout().lock();
    if !warnings.is_empty() {
        writeln!(out, "{}\n", judge::rendered(&warnings, &texts))?;
    }
    for text in &texts {
        let count = warnings.iter().filter(|warning| *warning.source.file == text.name).count();
        let verdict = match count {
            0 => "valid".to_owned(),
            1 => "valid, with a warning".to_owned(),
            count => format!("valid, with {count} warnings"),
        };
        writeln!(out, "{}: {verdict}", sayso_policy::explain::visible(&text.name))?;
    }
    if texts.is_empty() {
        return Err(Failure::wrong("There is no policy file yet.\n\n  Create one with `sayso init`."));
    }
    Ok(ExitCode::SUCCESS)
}

fn warnings(texts: &[PolicyText]) -> Result<Vec<Problem>, Failure> {
    let (mut warnings, mut read) = (Vec::new(), Vec::new());
    for text in texts.iter().filter(|text| !text.teaches()) {
        let file = sayso_policy::text::parse(&text.name, &text.text)
            .map_err(|problems| Failure::wrong(judge::rendered(&problems, texts)))?;
        warnings.extend(sayso_policy::text::lint(&file));
        read.push(file);
    }
    let stated = stated(&read)?;
    read.iter().filter(|_| !believed(&read)).for_each(|file| warnings.extend(lint_roles(file, &stated)));
    warnings.sort_by_key(|warning| (warning.source.line, warning.source.column));
    Ok(warnings)
}

/// Whether one of the files believes what agents report.
fn believed(files: &[File]) -> bool {
    files.iter().any(|file| file.trust_roles.as_ref().is_some_and(|trust| trust.value))
}

/// Whom this machine states: by what is registered, by tokens, and by the files themselves.
fn stated(files: &[File]) -> Result<StatedRoles, Failure> {
    let mut stated = StatedRoles::default();
    files.iter().for_each(|file| stated.add(file));
    let places = Places::find(Home::Environment)?;
    let (project, program) = (std::env::current_dir()?, this_program()?);
    for agent in Agent::ALL {
        stated.agents.push(agent.name().to_owned());
        let setting = Setting::here(Scope::User, places.clone(), project.clone(), program.clone()).of(*agent);
        let found = registrations(*agent, &setting).into_iter().filter_map(|it| it.stated);
        for said in found.filter_map(|text| text.parse::<Stated>().ok()) {
            stated.agents.extend(said.agent);
            stated.tenants.extend(said.tenant);
            stated.teams.extend(said.team.map(|team| match said.member {
                Some(member) => format!("{team}/{member}"),
                None => team,
            }));
        }
    }
    for token in Tokens::of(&places).and_then(|tokens| tokens.all()).iter().flat_map(|tokens| tokens.iter()) {
        stated.agents.push(token.name.clone());
        stated.tenants.extend(token.tenant.clone());
    }
    Ok(stated)
}

fn as_json(problem: &Problem) -> Value {
    json!({
        "code": problem.code,
        "warning": problem.warning,
        "file": &*problem.source.file,
        "line": problem.source.line,
        "column": problem.source.column,
        "text": problem.message,
        "suggestion": problem.suggestion,
    })
}
