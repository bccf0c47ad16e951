//! Calls of the past: from the record, from the agents' transcripts, or from a file.

use crate::failure::Failure;
use sayso_agents::Agent;
use sayso_agents::reconcile::Transcripts;
use sayso_gate::Places;
use sayso_gate::audit::{Kind, Log, Order, Query};
use sayso_gate::history::PastCall;
use sayso_gate::wire::{self, line};
use sayso_policy::shell::Environment as _;
use std::path::{Path, PathBuf};

/// The longest file of calls.
const LARGEST: u64 = 256 * 1024 * 1024;
/// Records that are read at a time.
const PAGE: usize = 1000;

/// The calls of `record`, `transcripts` or a file, as far back as is said.
pub(crate) fn calls(places: &Places, from: &str, since_ms: Option<u64>) -> Result<Vec<PastCall>, Failure> {
    match from {
        "record" => Ok(recorded(places, since_ms)?.calls),
        "transcripts" => Ok(transcripts(places, since_ms)),
        file => of_file(Path::new(file)),
    }
}

/// What the record holds.
pub(crate) struct Recorded {
    /// The calls that were kept whole.
    pub(crate) calls: Vec<PastCall>,
    /// Records that hold less than their call: redacted, or cut.
    pub(crate) less: usize,
}

/// The decisions of the record, with what people answered.
pub(crate) fn recorded(places: &Places, since_ms: Option<u64>) -> Result<Recorded, Failure> {
    // Who has no record yet is left without one.
    if !places.state.exists() {
        return Ok(Recorded { calls: Vec::new(), less: 0 });
    }
    let log = Log::open(places)?;
    log.fold()?;
    let answers = sayso_gate::history::Answers::of(log.store().as_ref())?;
    let (mut calls, mut less) = (Vec::new(), 0);
    let mut query = Query {
        kinds: vec![Kind::Decision],
        limit: Some(PAGE),
        order: Order::OldestFirst,
        after: Some(0),
        since_ms,
        ..Query::default()
    };
    loop {
        let page = log.store().query(&query)?;
        let Some(last) = page.last() else { break };
        query.after = Some(last.seq);
        for stored in &page {
            match PastCall::is_whole(&stored.record) {
                true => calls.push(answers.told(PastCall::recorded(&stored.record), &stored.record)),
                false => less += 1,
            }
        }
    }
    Ok(Recorded { calls, less })
}

/// The calls in the agents' transcripts.
pub(crate) fn transcripts(places: &Places, since_ms: Option<u64>) -> Vec<PastCall> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let transcripts = Transcripts { home: places.home.clone(), variable, since_ms: since_ms.unwrap_or(0) };
    let all = Agent::ALL.iter().filter_map(|agent| transcripts.history(*agent));
    all.flat_map(|history| history.calls).collect()
}

/// The calls of a file, a line each.
fn of_file(path: &Path) -> Result<Vec<PastCall>, Failure> {
    let wrong = |why: &str| Failure::wrong(format!("error: cannot read the calls in {}: {why}", path.display()));
    let size = path.metadata().map_err(|error| wrong(&error.to_string()))?.len();
    if size > LARGEST {
        return Err(wrong("it is larger than 256 MiB"));
    }
    let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
    let mut calls = Vec::new();
    for (number, text) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, text)| !text.is_empty()) {
        let (_, fields) = line::read(text);
        let (call, env) = fields
            .and_then(|fields| wire::call(&fields))
            .map_err(|why| wrong(&format!("line {}: {why}", number + 1)))?;
        calls.push(PastCall::new(call).bringing(env.given().to_vec()));
    }
    Ok(calls)
}
