//! What a Prometheus server reads of this one. Numbers only: whatever an agent can name (itself, sessions, tools) is no
//! label, or it could fill the memory of both.

use axum::http::StatusCode;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use sayso_gate::Recorded;
use sayso_gate::reason::{RECORD_ALTERED, RECORD_FAILED, STORE_FAILED, STORE_REPLACED};
use sayso_policy::{Answer, Code};
use std::time::Duration;

type Labels = [(&'static str, &'static str); 1];

/// What this server has done since it began.
pub(crate) struct Metrics {
    registry: Registry,
    /// Kept apart, so that a decision looks nothing up: allow, ask, deny, dry-run.
    answers: [Counter; 4],
    seconds: Histogram,
    limited: Counter,
    store_failures: Counter,
    responses: [Counter; 5],
    approvals: Family<Labels, Gauge>,
    policy_versions: Gauge,
    policy_refused: Gauge,
    chain_broken: Gauge,
    chain_checked: Gauge,
}

/// What is looked up when somebody asks.
pub(crate) struct Now {
    /// How many questions stand how.
    pub(crate) approvals: Vec<(&'static str, u64)>,
    /// How many versions of the policy have judged something.
    pub(crate) policy_versions: u64,
    /// A policy file is refused.
    pub(crate) policy_refused: bool,
    /// The record has been altered.
    pub(crate) chain_broken: bool,
    /// When all of it was last checked, in milliseconds since 1970.
    pub(crate) chain_checked_ms: u64,
}

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const ANSWERS: [Answer; 4] = [Answer::Allow, Answer::Ask, Answer::Deny, Answer::DryRun];

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("sayso");
        let decisions = Family::<Labels, Counter>::default();
        let answers = ANSWERS.map(|answer| decisions.get_or_create(&[("verdict", answer.as_str())]).clone());
        registry.register("decisions", "Calls judged over HTTP, by answer", decisions);
        // From 10 microseconds to 10 seconds.
        let steps = (0..=12).map(|n| 1e-5 * 10_f64.powf(f64::from(n) / 2.0));
        let seconds = Histogram::new(steps);
        registry.register_with_unit(
            "decision_duration",
            "Decision time, excluding time spent waiting for people",
            Unit::Seconds,
            seconds.clone(),
        );
        let (limited, store_failures) = (Counter::default(), Counter::default());
        registry.register("limited", "Calls stopped by a limit", limited.clone());
        registry.register(
            "store_failures",
            "Calls that did not run because the database failed",
            store_failures.clone(),
        );
        let by_class = Family::<Labels, Counter>::default();
        let responses = CLASSES.map(|class| by_class.get_or_create(&[("class", class)]).clone());
        registry.register("http_responses", "Responses by status class", by_class);
        let approvals = Family::<Labels, Gauge>::default();
        registry.register("approvals", "Approvals in the database, by status", approvals.clone());
        let (policy_versions, policy_refused) = (Gauge::default(), Gauge::default());
        let versions = "Policy versions that have decided a call; one more for each loaded";
        registry.register("policy_versions", versions, policy_versions.clone());
        registry.register(
            "policy_refused",
            "1 if a policy file has errors and is not in force",
            policy_refused.clone(),
        );
        let (chain_broken, chain_checked) = (Gauge::default(), Gauge::default());
        registry.register("chain_broken", "1 if the record has been altered", chain_broken.clone());
        let checked = "Time the whole record was last checked, in seconds since 1970; 0 if never";
        registry.register("chain_checked", checked, chain_checked.clone());
        registry.register("build", "This program", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        Self {
            registry,
            answers,
            seconds,
            limited,
            store_failures,
            responses,
            approvals,
            policy_versions,
            policy_refused,
            chain_broken,
            chain_checked,
        }
    }

    /// A call was judged.
    pub(crate) fn judged(&self, recorded: &Recorded) {
        let decision = &recorded.decision;
        if let Some((_, counter)) = ANSWERS.iter().zip(&self.answers).find(|(answer, _)| **answer == decision.answer) {
            counter.inc();
        }
        self.seconds.observe(Duration::from_micros(recorded.micros).as_secs_f64());
        match decision.reasons.first().and_then(|reason| reason.code.built_in()) {
            Some(Code::Limit) => drop(self.limited.inc()),
            Some(RECORD_ALTERED | RECORD_FAILED | STORE_FAILED | STORE_REPLACED) => drop(self.store_failures.inc()),
            _ => {}
        }
    }

    /// A request was answered.
    pub(crate) fn answered(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(counter) = self.responses.get(class) {
            counter.inc();
        }
    }

    /// Everything, in the format of OpenMetrics.
    pub(crate) fn text(&self, now: &Now) -> Result<String, std::fmt::Error> {
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        for (standing, count) in &now.approvals {
            self.approvals.get_or_create(&[("standing", standing)]).set(number(*count));
        }
        self.policy_versions.set(number(now.policy_versions));
        self.policy_refused.set(i64::from(now.policy_refused));
        self.chain_broken.set(i64::from(now.chain_broken));
        self.chain_checked.set(number(now.chain_checked_ms / 1000));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
