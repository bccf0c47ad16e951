//! Programs that the client starts, held: the request that the client gets names `sayso run` with a permit in place of the
//! program. The client never sees the original, so no proof is needed that it runs what it was told.

use super::judge::Who;
use crate::hold::{canary::now_ms, sayso};
use crate::pipe::message_line;
use sayso_gate::hold::permit::{HoldPermits, LIFETIME, Terms};
use sayso_gate::{Error, Permit, Places};
use sayso_policy::shell::bounds::Need;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A request to start a program.
pub(super) struct Terminal {
    params: Value,
    words: Vec<String>,
    folder: PathBuf,
    sayso: String,
}

impl Terminal {
    /// One whose words are the same whether the client starts them or hands them to a shell; no other can be held.
    pub(super) fn of(params: &Value, who: &Who) -> Option<Self> {
        let args = match params.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(args) => args.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?,
        };
        let words: Vec<String> =
            std::iter::once(params.get("command")?.as_str()?).chain(args).map(ToOwned::to_owned).collect();
        let plain = |word: &String| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./,:@%+".contains(&b))
        };
        let folder = match params.get("cwd") {
            None | Some(Value::Null) => who.workspace.clone()?,
            Some(folder) => PathBuf::from(folder.as_str()?),
        };
        let folder = folder.canonicalize().ok()?;
        let sayso = sayso().filter(|path| plain(path))?;
        words.iter().all(plain).then(|| Self { params: params.clone(), words, folder, sayso })
    }

    /// The request for the client, which redeems the permit.
    pub(super) fn held(
        self,
        permit: Permit,
        places: &Places,
        (id, who): (&[u8], &Who),
        (policy_version, record): (String, String),
        (need, required): (Need, bool),
    ) -> Result<Vec<u8>, Error> {
        let lifetime = u64::try_from(LIFETIME.as_millis()).unwrap_or(u64::MAX);
        let terms = Terms {
            words: self.words.iter().map(Into::into).collect(),
            folder: self.folder.clone(),
            session: who.session.clone(),
            agent: who.agent.clone(),
            actor: Some(Box::new(who.actor())),
            call_id: None,
            workspace: who.workspace.clone().unwrap_or_else(|| Path::new("/").to_owned()),
            home: Some(places.home.clone()),
            policy_version,
            record,
            need,
            required,
            expires_ms: now_ms().saturating_add(lifetime),
        };
        let permit = HoldPermits::at(places).issue(permit, terms)?;
        let mut params = self.params;
        let before = ["run", "--permit", &permit, "--"].map(ToOwned::to_owned);
        let args: Vec<String> = before.into_iter().chain(self.words).collect();
        if let Some(fields) = params.as_object_mut() {
            fields.insert("command".to_owned(), json!(self.sayso));
            fields.insert("args".to_owned(), json!(args));
        }
        Ok(message_line(Some(id), "terminal/create", Some(params.to_string().as_bytes())))
    }
}
