//! Which records.

use super::time::moment;
use sayso_gate::audit::{Kind, Query};
use sayso_policy::Verdict;

/// Which records. Everything given must hold.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Filter {
    /// Only this verdict
    #[arg(long, value_name = "VERDICT", value_parser = ["allow", "ask", "deny"])]
    verdict: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only this tool, by its canonical name, such as bash_execute
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only decisions by this rule, by its id or reason code
    #[arg(long, value_name = "CODE")]
    rule: Option<String>,
    /// Only records that contain this text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only records since then: 90s, 15m, 8h or 7d ago, 2026-11-15, 2026-11-15T08:24:11Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<u64>,
    /// Only records before then, in the same formats
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<u64>,
    /// Show records of this kind instead of decisions
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<Kind>,
    /// Show records of every kind
    #[arg(long, conflicts_with = "kind")]
    all: bool,
}

impl Filter {
    /// The question that this is.
    pub(crate) fn query(&self) -> Query {
        let kinds = match (self.all, self.kind.as_slice()) {
            (true, _) => Vec::new(),
            (false, []) => vec![Kind::Decision],
            (false, kinds) => kinds.to_vec(),
        };
        Query {
            kinds,
            since_ms: self.since,
            until_ms: self.until,
            agent: self.agent.clone(),
            session: self.session.clone(),
            tool: self.tool.clone(),
            rule: self.rule.clone(),
            text: self.text.clone(),
            verdict: self.verdict.as_deref().map(|verdict| match verdict {
                "allow" => Verdict::Allow,
                "ask" => Verdict::Ask,
                _ => Verdict::Deny,
            }),
            ..Query::default()
        }
    }
}

fn kind(text: &str) -> Result<Kind, String> {
    let words = Kind::ALL.map(Kind::as_str).join(", ");
    Kind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(format!("one of {words}"))
}
