//! Questions and answers in SQLite.

use super::{Sqlite, Transaction, grants, witness};
use crate::Error;
use crate::approval::{Approval, GONE_AFTER_MS, Given, Outlook, Presence, Question, Refused, Standing, outlook};
use crate::audit::{Change, Event, Kind};
use crate::store::{Answering, Approvals, Questions, answering};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sayso_policy::Actor;
use serde_json::json;

/// What stands in a question whose addressees escalate.
const ESCALATES: &str = "\"escalate\":{";
const COLUMNS: &str = "SELECT body, standing, decided_ms, used_ms, why FROM approval";

impl Approvals for Sqlite {
    fn approval(&self, id: &str) -> Result<Option<Approval>, Error> {
        self.read(|connection| one(connection, id))
    }

    fn questions(&self, which: &Questions<'_>, theirs: &dyn Fn(&Question) -> bool) -> Result<Vec<Approval>, Error> {
        let now = crate::audit::now_ms();
        let standing = if which.pending { "standing = 'pending' AND expires_ms > ?1" } else { "?1 >= 0" };
        let (beyond, order) = if which.oldest_first { (">", "ASC") } else { ("<", "DESC") };
        // Two that were asked in one millisecond are told apart by their ids, so that a page ends at one place.
        let sql = format!(
            "{COLUMNS} WHERE {standing} AND (?2 IS NULL OR session = ?2)
             AND (?3 IS NULL OR body ->> '$.actor.tenant' = ?3) AND (?4 IS NULL OR body ->> '$.actor.agent' = ?4)
             AND (?5 IS NULL OR (asked_ms, id) {beyond} (SELECT asked_ms, id FROM approval WHERE id = ?5))
             ORDER BY asked_ms {order}, id {order}"
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let wanted = params![int(now), which.session, which.tenant, which.agent, which.after];
            let rows = statement.query_map(wanted, parts)?;
            let found = rows.map(|row| whole(connection, row?));
            let wanted = |found: &Result<Approval, Error>| found.as_ref().map_or(true, |it| theirs(&it.question));
            found.filter(wanted).take(which.limit).collect()
        })
    }

    fn answer(&self, answer: &Answering<'_>) -> Result<Approval, Error> {
        // A refusal may change something too (a question that turns out to be void), which an error would undo.
        self.write(|tx| answered(tx, answer))?.map_err(Error::Refused)
    }

    fn standings(&self) -> Result<Vec<(String, u64)>, Error> {
        // One that ended has expired, even if nobody has written that down yet.
        let sql = "SELECT iif(standing = 'pending' AND expires_ms <= ?1, 'expired', standing), count(*)
                   FROM approval GROUP BY 1";
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let now = int(crate::audit::now_ms());
            let rows = statement.query_map([now], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
            rows.map(|row| row.map(|(word, n)| (word, u64::try_from(n).unwrap_or_default())).map_err(Error::from))
                .collect()
        })
    }

    fn cancel(&self, id: &str, why: &str, now_ms: u64) -> Result<bool, Error> {
        self.write(|tx| cancelled(tx, id, why, now_ms))
    }

    fn escalate(&self, id: &str, by: &str, now_ms: u64) -> Result<Option<Approval>, Error> {
        self.write(|tx| {
            let Some(mut approval) = one(tx.connection(), id)? else { return Ok(None) };
            if approval.standing != Standing::Pending {
                return Ok(None);
            }
            if !witness::is_said(tx.connection(), id, "escalated")? {
                let Some(to) = approval.question.escalate(now_ms, true) else { return Ok(None) };
                append(tx, answering::escalated_record(&approval.question, &to, by))?;
            }
            one(tx.connection(), id)
        })
    }

    fn attend(&self, presence: &Presence, now_ms: u64) -> Result<(), Error> {
        let body = serde_json::to_string(presence)?;
        // Not worth a sync of its own: whoever waits says it again in a moment.
        self.write_soon(|tx| {
            let connection = tx.connection();
            connection
                .prepare_cached("INSERT OR REPLACE INTO presence (id, seen_ms, body) VALUES (?1, ?2, ?3)")?
                .execute(params![presence.id, int(now_ms), body])?;
            connection
                .prepare_cached("DELETE FROM presence WHERE seen_ms < ?1")?
                .execute([int(now_ms.saturating_sub(10 * GONE_AFTER_MS))])?;
            Ok(())
        })
    }

    fn leave(&self, id: &str) -> Result<(), Error> {
        self.write_soon(|tx| Ok(tx.connection().execute("DELETE FROM presence WHERE id = ?1", [id]).map(|_| ())?))
    }

    fn present(&self, now_ms: u64) -> Result<Vec<Presence>, Error> {
        self.read(|connection| {
            let sql = "SELECT body FROM presence WHERE seen_ms > ?1 AND seen_ms < ?2";
            let mut statement = connection.prepare_cached(sql)?;
            // One from the future says nothing about now: the clock was set back.
            let (from, to) = (now_ms.saturating_sub(GONE_AFTER_MS), now_ms.saturating_add(GONE_AFTER_MS));
            let rows = statement.query_map([int(from), int(to)], |row| row.get::<_, String>(0))?;
            rows.map(|row| Ok(serde_json::from_str(&row?)?)).collect()
        })
    }
}

type Parts = (String, String, Option<i64>, Option<i64>, Option<String>);

fn parts(row: &Row<'_>) -> rusqlite::Result<Parts> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
}

fn whole(connection: &Connection, (body, standing, decided, used, why): Parts) -> Result<Approval, Error> {
    let mut question: Question = serde_json::from_str(&body)?;
    let said =
        body.contains(ESCALATES) && witness::record(connection, &question.id, "escalated", Kind::Approval)?.is_some();
    let escalated = question.escalate(crate::audit::now_ms(), said);
    let mut answers = connection.prepare_cached("SELECT body FROM answer WHERE approval = ?1 ORDER BY seq")?;
    let rows = answers.query_map([&question.id], |row| row.get::<_, String>(0))?;
    let answers = rows.map(|row| Ok(serde_json::from_str(&row?)?)).collect::<Result<Vec<Given>, Error>>()?;
    let mut standing: Standing = serde_json::from_value(json!(standing))?;
    // It has ended even if nobody has written that down yet.
    if standing == Standing::Pending && question.expires_ms <= crate::audit::now_ms() {
        standing = Standing::Expired;
    }
    let time = |ms: Option<i64>| ms.map(|ms| u64::try_from(ms).unwrap_or_default());
    Ok(Approval { question, standing, decided_ms: time(decided), used_ms: time(used), why, answers, escalated })
}

fn one(connection: &Connection, id: &str) -> Result<Option<Approval>, Error> {
    let found = connection.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?.query_row([id], parts).optional()?;
    found.map(|row| whole(connection, row)).transpose()
}

/// Questions about this very call that wait or whose answer counts, the latest first; and how many of the session wait.
pub(super) fn about(
    connection: &Connection,
    digest: &str,
    actor: &Actor,
    now_ms: u64,
) -> Result<(Vec<Approval>, usize), Error> {
    let sql = format!(
        "{COLUMNS} WHERE digest = ?1 AND expires_ms > ?2 AND used_ms IS NULL AND asked_ms <= ?3
         AND standing IN ('pending', 'approved', 'denied') ORDER BY asked_ms DESC, id DESC LIMIT 8"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    // One that was asked in the future was asked before the clock was set back: how old it is, nobody knows.
    let rows = statement.query_map(params![digest, int(now_ms), int(now_ms.saturating_add(60_000))], parts)?;
    let found = rows.map(|row| whole(connection, row?)).collect::<Result<Vec<_>, Error>>()?;
    // A session is one of its tenant and of who opened it; those who name none are told apart by their agents.
    let sql = "SELECT count(*) FROM approval WHERE standing = 'pending' AND expires_ms > ?1 AND session IS ?2
               AND body ->> '$.actor.tenant' IS ?3 AND (?2 IS NOT NULL OR body ->> '$.actor.agent' IS ?4)
               AND body ->> '$.actor.asker' IS ?5";
    let whose = params![int(now_ms), actor.session, actor.tenant, actor.agent, actor.asker];
    let pending: i64 = connection.prepare_cached(sql)?.query_row(whose, |row| row.get(0))?;
    Ok((found, usize::try_from(pending).unwrap_or(usize::MAX)))
}

/// Whether a question of this session waits, or has an answer that still counts. A session that is not named may be any:
/// what a question is bound to holds its name, so that others' never count for it.
pub(super) fn any_open(connection: &Connection, actor: &Actor, now_ms: u64) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM approval WHERE standing IN ('pending', 'approved', 'denied')
               AND expires_ms > ?1 AND used_ms IS NULL AND session IS ?2)";
    Ok(connection.prepare_cached(sql)?.query_row(params![int(now_ms), actor.session], |row| row.get(0))?)
}

/// Asks a question.
pub(super) fn ask(tx: &mut Transaction<'_>, question: &Question) -> Result<(), Error> {
    let body = serde_json::to_string(question)?;
    tx.connection()
        .prepare_cached(
            "INSERT INTO approval (id, digest, standing, session, asked_ms, expires_ms, body)
             VALUES (?1, ?2, 'pending', ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            question.id,
            question.digest,
            question.actor.session,
            int(question.asked_ms),
            int(question.expires_ms),
            body,
        ])?;
    append(tx, answering::asked_record(question, &body))
}

/// Uses a yes to the call of this digest: no second call runs on it. `false`: it is used, or no yes.
pub(super) fn spend(tx: &mut Transaction<'_>, id: &str, digest: &str, now_ms: u64) -> Result<bool, Error> {
    if !witness::was_approved(tx.connection(), id, digest, now_ms)? {
        return Err(Error::Forged(id.to_owned()));
    }
    if !witness::unbroken(tx, id, "asked", Kind::Approval)? {
        return Err(Error::Gap(id.to_owned()));
    }
    let spent = tx
        .connection()
        .prepare_cached(
            "UPDATE approval SET used_ms = ?2 WHERE id = ?1 AND standing = 'approved' AND used_ms IS NULL
             AND expires_ms > ?2",
        )?
        .execute(params![id, int(now_ms)])?;
    if spent == 1
        && let Some(approval) = one(tx.connection(), id)?
    {
        append(tx, answering::used_record(&approval.question))?;
        tx.seal();
    }
    Ok(spent == 1)
}

/// Writes down which questions have ended.
pub(super) fn expire(tx: &mut Transaction<'_>, now_ms: u64) -> Result<(), Error> {
    let ended: Vec<String> = {
        let sql = "SELECT id FROM approval WHERE standing = 'pending' AND expires_ms <= ?1 LIMIT 100";
        let mut statement = tx.connection().prepare_cached(sql)?;
        let rows = statement.query_map([int(now_ms)], |row| row.get(0))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    for id in ended {
        end(tx, &id, Standing::Expired, None, "sayso", now_ms)?;
    }
    climb(tx, now_ms)
}

/// Writes down, once for each, which questions have reached a higher group.
fn climb(tx: &mut Transaction<'_>, now_ms: u64) -> Result<(), Error> {
    let waiting: Vec<String> = {
        let sql = "SELECT body FROM approval WHERE standing = 'pending' AND instr(body, ?1) LIMIT 1000";
        let mut statement = tx.connection().prepare_cached(sql)?;
        let rows = statement.query_map([ESCALATES], |row| row.get(0))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    for body in waiting {
        let mut question: Question = serde_json::from_str(&body)?;
        if let Some(to) = question.escalate(now_ms, false)
            && !witness::is_said(tx.connection(), &question.id, "escalated")?
        {
            append(tx, answering::escalated_record(&question, &to, "sayso"))?;
        }
    }
    Ok(())
}

fn cancelled(tx: &mut Transaction<'_>, id: &str, why: &str, now_ms: u64) -> Result<bool, Error> {
    let waits = one(tx.connection(), id)?.is_some_and(|approval| approval.standing == Standing::Pending);
    if waits {
        end(tx, id, Standing::Cancelled, Some(why), "sayso", now_ms)?;
    }
    Ok(waits)
}

/// Ends a question that waits.
fn end(
    tx: &mut Transaction<'_>,
    id: &str,
    standing: Standing,
    why: Option<&str>,
    by: &str,
    now_ms: u64,
) -> Result<(), Error> {
    tx.connection()
        .prepare_cached(
            "UPDATE approval SET standing = ?2, decided_ms = ?3, why = ?4 WHERE id = ?1 AND standing = 'pending'",
        )?
        .execute(params![id, standing.as_str(), int(now_ms), why])?;
    if let Some(approval) = one(tx.connection(), id)? {
        let mut change = answering::record(&approval.question, standing.as_str(), by);
        change.detail = json!({"why": why});
        append(tx, change)?;
    }
    Ok(())
}

fn answered(tx: &mut Transaction<'_>, answer: &Answering<'_>) -> Result<Result<Approval, Refused>, Error> {
    expire(tx, answer.now_ms)?;
    let Some(mut approval) = one(tx.connection(), answer.id)? else {
        return Ok(Err(Refused::Unknown(answer.id.to_owned())));
    };
    if let Err(refused) = answering::may_answer(&approval, answer.person) {
        return Ok(Err(refused));
    }
    let asked = witness::was_asked(tx.connection(), answer.id)?;
    let changed = answering::changed(&approval.question, answer);
    if let Some(changed) = changed.or_else(|| (!asked).then(|| "the question".to_owned())) {
        end(tx, answer.id, Standing::Cancelled, Some(&format!("{changed} changed")), "sayso", answer.now_ms)?;
        return Ok(Err(Refused::Changed(changed)));
    }
    if let Err(why) = answering::selectors(&approval.question, answer.reply, answer.person) {
        return Ok(Err(Refused::NotOffered(why)));
    }
    let given = answering::given(answer);
    let (place, body) = (approval.answers.len(), serde_json::to_string(&given)?);
    tx.connection()
        .prepare_cached("INSERT INTO answer (approval, person, time_ms, seq, body) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![answer.id, given.person.name, int(answer.now_ms), int(place as u64), body])?;
    let question = approval.question.clone();
    let sql = "SELECT body FROM approval WHERE id = ?1";
    let asked: String = tx.connection().prepare_cached(sql)?.query_row([answer.id], |row| row.get(0))?;
    append(tx, answering::answered_record(&question, &asked, place, &given, &body))?;
    approval.answers.push(given);
    let (standing, reply) = match outlook(&question, &approval.answers) {
        Outlook::Open => return Ok(Ok(approval)),
        Outlook::Approved(reply) => (Standing::Approved, reply),
        Outlook::Denied(reply) => (Standing::Denied, reply),
    };
    end(tx, answer.id, standing, None, &answer.person.name, answer.now_ms)?;
    for kept in answering::remembered(&approval, &reply, answer) {
        grants::give(tx, &kept, &answer.person.name)?;
    }
    Ok(one(tx.connection(), answer.id)?.ok_or_else(|| Refused::Unknown(answer.id.to_owned())))
}

fn append(tx: &mut Transaction<'_>, change: Change) -> Result<(), Error> {
    tx.append(&Event::from(change)).map(|_| ())
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
