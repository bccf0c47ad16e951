//! Whether the chain is whole, and if not, which record was changed, removed or inserted.

use crate::audit::chain::{End, link};
use crate::audit::{Event, Head, RECORDS_BETWEEN_HEADS};
use blake3::Hash;
use serde::Serialize;
use std::collections::BTreeMap;

/// How far a number may be off where records were inserted or removed and the rest was numbered anew.
const FARTHEST: u64 = 64;
/// Problems that are told one by one.
const MOST_PROBLEMS: usize = 100;

/// A record as it stands in the store, before anything in it is believed.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its number.
    pub seq: u64,
    /// The hash before it.
    pub previous: Hash,
    /// Its own.
    pub hash: Hash,
    /// Its content.
    pub body: &'a str,
    /// What the store searches by: id, kind, agent, session, tool, verdict, rule, tenant, run.
    pub columns: [Option<&'a str>; 9],
    /// The same: when.
    pub time_ms: u64,
}

/// What is known about a chain before its first record is read.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The chain's name.
    pub chain: String,
    /// Where what was pruned ended, with its signature.
    pub pruned: Option<Head>,
    /// Heads in the store.
    pub heads: Vec<Head>,
    /// The public key beside the store.
    pub key: Option<String>,
    /// That key was made for this chain: it is made when something is signed for the first time.
    pub has_signed: bool,
    /// Keys that were in use before it, each with the last record for which it counts.
    pub earlier: Vec<(String, u64)>,
    /// Heads that were kept elsewhere.
    pub exported: Vec<Head>,
}

/// What is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ChainProblem))]
#[serde(tag = "problem", rename_all = "kebab-case")]
pub enum Problem {
    /// A record is not what was written.
    Changed {
        /// Which.
        seq: u64,
        /// What of it.
        what: String,
    },
    /// Records are missing.
    Removed {
        /// The first number that is missing, or at which the rest was numbered anew.
        seq: u64,
        /// How many.
        count: u64,
    },
    /// Records stand there that were not written by Sayso.
    Inserted {
        /// The first.
        seq: u64,
        /// How many.
        count: u64,
    },
    /// The end is missing.
    CutOff {
        /// The last record that is there.
        last: u64,
        /// The head that knows of more, by its record.
        head: u64,
    },
    /// A head does not agree with the record it names, though the chain is whole: records up to it were made anew.
    Rewritten {
        /// The last head that agrees, by its record; 0: none.
        after: u64,
        /// The head that does not.
        head: u64,
    },
    /// A head, or what pruning left behind, is not signed with the key of this store.
    NotSigned {
        /// Its record.
        seq: u64,
    },
    /// Heads that must have been signed are not in the store.
    HeadsRemoved {
        /// The last record that a head stands for; 0: none.
        after: u64,
        /// The last record.
        last: u64,
    },
    /// The exported head proves nothing here.
    WrongHead {
        /// Why.
        why: String,
    },
}

/// What verifying found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verified {
    /// The chain's name.
    pub chain: String,
    /// How many records were looked at.
    pub records: u64,
    /// The first and the last number.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// Everything up to this record was removed by `prune`; 0: nothing.
    pub pruned: u64,
    /// The last head in the store that is signed and agrees, by its record; 0: none. It proves everything up to it
    /// against those who have not the key.
    pub signed: u64,
    /// The exported head that agrees, by its record. It proves everything up to it against everybody.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub exported: Option<u64>,
    /// What is wrong; empty: nothing was found.
    pub problems: Vec<Problem>,
    /// Problems beyond those.
    pub more_problems: u64,
}

/// Looks at a chain record by record.
pub struct Verifier {
    begin: Begin,
    heads: BTreeMap<u64, Head>,
    last: End,
    /// How far numbers are off: where a record now stands, minus where it stood.
    shift: i128,
    /// The chain has a hole here that was told: what comes next need not hang on what was before.
    hole: bool,
    found: Verified,
}

impl Verifier {
    /// Before the first record.
    #[must_use]
    pub fn new(begin: Begin) -> Self {
        let start = begin.pruned.as_ref().and_then(Head::end).unwrap_or_else(|| End::of_nothing(&begin.chain));
        let found = Verified {
            chain: begin.chain.clone(),
            records: 0,
            first: 0,
            last: start.seq,
            pruned: begin.pruned.as_ref().map_or(0, |head| head.seq),
            signed: 0,
            exported: None,
            problems: Vec::new(),
            more_problems: 0,
        };
        let heads = begin.heads.iter().map(|head| (head.seq, head.clone())).collect();
        let mut verifier = Self { begin, heads, last: start, shift: 0, hole: false, found };
        if let Some(pruned) = verifier.begin.pruned.clone()
            && !verifier.is_ours(&pruned)
        {
            verifier.tell(Problem::NotSigned { seq: pruned.seq });
        }
        verifier
    }

    /// Looks at the next record.
    pub fn look_at(&mut self, row: &Row<'_>) {
        self.found.records += 1;
        if self.found.first == 0 {
            self.found.first = row.seq;
        }
        let expected = self.last.seq.saturating_add(1);
        if row.seq > expected {
            self.tell(Problem::Removed { seq: expected, count: row.seq - expected });
            self.hole = true;
        }
        match self.place(row) {
            Some(shift) => self.moved(row.seq, shift),
            None => self.tell(Problem::Changed { seq: row.seq, what: "its content".to_owned() }),
        }
        if row.previous != self.last.hash && !self.hole {
            // Its own hash holds, so it is what came before that was made anew.
            if self.last.seq > self.found.pruned {
                self.tell(Problem::Changed { seq: self.last.seq, what: "its content and its own hash".to_owned() });
            } else {
                self.tell(Problem::Removed { seq: expected, count: 0 });
            }
        }
        if let Some(column) = disagreeing_column(row) {
            self.tell(Problem::Changed { seq: row.seq, what: format!("the column `{column}`") });
        }
        self.hole = false;
        self.last = End { seq: row.seq, hash: row.hash };
        self.found.last = row.seq;
        self.compare_with_head(row);
    }

    /// How far the record has moved from where it was written; `None`: its content is not what was written.
    fn place(&self, row: &Row<'_>) -> Option<i128> {
        let fits = |shift: i128| {
            let was = u64::try_from(i128::from(row.seq) - shift).ok()?;
            (link(was, &row.previous, row.body) == row.hash).then_some(shift)
        };
        let near = (1..=i128::from(FARTHEST)).flat_map(|by| [self.shift + by, self.shift - by]);
        fits(self.shift).or_else(|| near.into_iter().find_map(fits))
    }

    fn moved(&mut self, seq: u64, shift: i128) {
        let by = shift - self.shift;
        let count = u64::try_from(by.unsigned_abs()).unwrap_or(u64::MAX);
        self.shift = shift;
        match by {
            0 => {}
            1.. => {
                let first = seq.saturating_sub(count);
                // Those may have been told as changed, because they do not hang together.
                let inside = |seq: u64| (first..first + count).contains(&seq);
                self.found.problems.retain(|p| !matches!(p, Problem::Changed { seq, .. } if inside(*seq)));
                self.tell(Problem::Inserted { seq: first, count });
                self.hole = true;
            }
            _ => {
                self.tell(Problem::Removed { seq, count });
                self.hole = true;
            }
        }
    }

    fn compare_with_head(&mut self, row: &Row<'_>) {
        if let Some(head) = self.heads.remove(&row.seq) {
            if !self.is_ours(&head) {
                self.tell(Problem::NotSigned { seq: head.seq });
            } else if head.hash != row.hash.to_hex().as_str() {
                self.tell(Problem::Rewritten { after: self.found.signed, head: head.seq });
            } else {
                self.found.signed = head.seq;
            }
        }
        while let Some(at) = self.begin.exported.iter().position(|head| head.seq == row.seq) {
            let head = self.begin.exported.swap_remove(at);
            if let Some(why) = self.unusable(&head) {
                self.tell(Problem::WrongHead { why });
            } else if head.hash != row.hash.to_hex().as_str() {
                self.tell(Problem::Rewritten { after: 0, head: head.seq });
            } else {
                self.found.exported = Some(head.seq);
            }
        }
    }

    /// After the last record.
    #[must_use]
    pub fn finish(mut self) -> Verified {
        self.miss_heads();
        for (seq, head) in std::mem::take(&mut self.heads) {
            // What was pruned cannot be compared any more.
            if seq <= self.found.pruned {
                continue;
            }
            if self.is_ours(&head) {
                self.tell(Problem::CutOff { last: self.found.last, head: seq });
            } else {
                self.tell(Problem::NotSigned { seq });
            }
        }
        for head in std::mem::take(&mut self.begin.exported) {
            self.compare_what_is_left(&head);
        }
        self.found
    }

    /// Whoever makes hashes anew would take the heads away that tell of it: where there must be one, none is a problem.
    fn miss_heads(&mut self) {
        let last = self.found.last;
        let newest = self.begin.heads.iter().map(|head| head.seq).max();
        let after = newest.unwrap_or_default().max(self.found.pruned);
        let none = self.begin.has_signed && newest.is_none() && self.begin.pruned.is_none();
        if none || last.saturating_sub(after) >= RECORDS_BETWEEN_HEADS {
            self.tell(Problem::HeadsRemoved { after, last });
        }
    }

    /// An exported head whose record is not there.
    fn compare_what_is_left(&mut self, head: &Head) {
        let pruned = self.begin.pruned.as_ref();
        if let Some(why) = self.unusable(head) {
            self.tell(Problem::WrongHead { why });
        } else if head.seq > self.found.last {
            self.tell(Problem::CutOff { last: self.found.last, head: head.seq });
        } else if pruned.is_some_and(|pruned| pruned.seq == head.seq && pruned.hash == head.hash)
            || head.end() == Some(End::of_nothing(&self.begin.chain))
        {
            self.found.exported = self.found.exported.max(Some(head.seq));
        } else if head.seq < self.found.pruned {
            let why = format!("it is for record {}, which has been pruned; export a newer one", head.seq);
            self.tell(Problem::WrongHead { why });
        } else {
            self.tell(Problem::Rewritten { after: 0, head: head.seq });
        }
    }

    fn is_ours(&self, head: &Head) -> bool {
        let earlier = || self.begin.earlier.iter().any(|(key, up_to)| *key == head.key && head.seq <= *up_to);
        let ours = self.begin.key.as_ref().is_some_and(|key| *key == head.key) || earlier();
        ours && head.chain == self.begin.chain && head.is_signed()
    }

    fn unusable(&self, head: &Head) -> Option<String> {
        if !head.is_signed() {
            return Some("its signature is invalid: the file was changed".to_owned());
        }
        (head.chain != self.begin.chain).then(|| "it is for another chain: the database was replaced".to_owned())
    }

    fn tell(&mut self, problem: Problem) {
        if self.found.problems.len() < MOST_PROBLEMS {
            self.found.problems.push(problem);
        } else {
            self.found.more_problems += 1;
        }
    }
}

/// The store searches by columns beside the content, which the hash covers: they must say the same.
fn disagreeing_column(row: &Row<'_>) -> Option<&'static str> {
    // Content of a later version cannot be compared; its hash was.
    let event = Event::from_line(row.body).ok()?;
    let actor = event.actor();
    let said = [
        ("id", Some(event.id())),
        ("kind", Some(event.kind().as_str())),
        ("agent", actor.agent.as_deref()),
        ("session", actor.session.as_deref()),
        ("tool", event.tool()),
        ("verdict", event.verdict().map(|verdict| verdict.as_str())),
        ("rule", event.rule()),
        ("tenant", actor.tenant.as_deref()),
        ("run", actor.run.as_deref()),
    ];
    let differs = said.iter().zip(row.columns).find(|((_, said), column)| said != column);
    differs.map(|((name, _), _)| *name).or((time(event.time_ms()) != row.time_ms).then_some("time_ms"))
}

/// A time as a column can hold it.
fn time(ms: u64) -> u64 {
    ms.min(u64::try_from(i64::MAX).unwrap_or(u64::MAX))
}
