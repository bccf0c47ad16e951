//! A risk score for people: the score, its word, and what it is made of.

use sayso_policy::Risk;

/// `72 (high): reads-secrets 45, connects 27`.
pub(crate) fn line(risk: &Risk) -> String {
    let one = |it: &sayso_policy::RiskPoints| match it.count {
        1 => format!("{} {}", it.feature, it.points),
        count => format!("{count} x {} {}", it.feature, it.points),
    };
    let points = risk.points.iter().map(one).collect::<Vec<_>>().join(", ");
    let points = if points.is_empty() { points } else { format!(": {points}") };
    format!("{} ({}){points}", risk.score, risk.word.as_str())
}
