//! A client's session with the server or servers behind the gateway.

use super::child::ChildLink;
use super::guard::{Guard, Port};
use super::judge::Judge;
use super::multiplexer::{Multiplexer, Routes};
use super::pins::Pins;
use super::setting::{GatewaySetting, Reach};
use super::upstream::{Link, Upstream};
use crate::Error;
use crate::pipe::{Reader, Refused, Skimmed, error_line};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often it is looked whether a server takes too long.
const TICK: Duration = Duration::from_millis(500);
/// How long a client that has closed its side is still answered.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A client's session with what is behind the gateway.
pub(crate) struct Hub {
    client: Arc<dyn Port>,
    upstreams: Vec<Arc<Upstream>>,
    multiplexer: Option<Arc<Multiplexer>>,
}

impl Hub {
    /// Starts the servers.
    pub(crate) fn start(setting: &GatewaySetting, client: Arc<dyn Port>) -> Result<Self, Error> {
        let judge = Arc::new(Judge::new(setting.judge.clone())?);
        let pins = Pins::open(&setting.judge.places)?;
        let routes = (setting.servers.len() > 1).then(|| Arc::new(Routes::default()));
        let upstreams: Vec<Arc<Upstream>> = setting
            .servers
            .iter()
            .enumerate()
            .map(|(index, server)| {
                let reached = server.reach.in_words();
                let guard = Guard::new(server.name.clone(), reached, Arc::clone(&judge), pins.clone(), setting.limits);
                let link = link(&server.reach, &setting.launcher);
                Upstream::new(guard, index, link, Arc::clone(&client), routes.clone(), setting.limits.timeout)
            })
            .collect();
        for upstream in &upstreams {
            if let Err(error) = upstream.start() {
                eprintln!("sayso: the MCP server {} cannot be started: {error}", upstream.guard.server);
            }
        }
        watch(&upstreams)?;
        let multiplexer = routes.map(|routes| Multiplexer::new(upstreams.clone(), Arc::clone(&client), routes));
        Ok(Self { client, upstreams, multiplexer })
    }

    /// A line of the client, its end included.
    pub(crate) fn line_from_client(&self, reader: &mut Reader, line: &[u8]) {
        let message = match reader.read(line) {
            Ok(Some(message)) => message,
            Ok(None) => return,
            Err(refused) => return self.refuse(&refused),
        };
        match (&self.multiplexer, self.upstreams.first()) {
            (Some(multiplexer), _) => multiplexer.hear_client(&message),
            (None, Some(upstream)) => upstream.hear_client(&message, line),
            (None, None) => {}
        }
    }

    /// A line of the client that is too long to be looked at.
    pub(crate) fn too_long_from_client(&self, skimmed: Skimmed, longest: usize) {
        self.refuse(&Refused::too_long(skimmed, longest));
    }

    fn refuse(&self, refused: &Refused) {
        let text = format!("Sayso: {}", refused.why);
        // An answer that cannot be read is no answer; the server gives up on it in its own time.
        if refused.skimmed.request || !refused.skimmed.answer {
            self.client.say(error_line(refused.skimmed.id.as_deref(), refused.code, &text, None));
        } else {
            eprintln!("sayso: an answer from the client was not passed on: {}", refused.why);
        }
    }

    /// Waits a moment until what was asked is answered, then ends the servers: a client may send, close, and read.
    pub(crate) fn finish(&self) {
        let until = Instant::now() + LAST_ANSWERS;
        while Instant::now() < until && self.upstreams.iter().any(|upstream| upstream.is_busy()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.close();
    }

    /// Ends the servers.
    pub(crate) fn close(&self) {
        std::thread::scope(|scope| {
            for upstream in &self.upstreams {
                scope.spawn(|| upstream.close());
            }
        });
    }
}

fn link(reach: &Reach, launcher: &[OsString]) -> Box<dyn Link> {
    match reach {
        Reach::Command { command, env, cwd } => {
            let command = [launcher, command].concat();
            Box::new(ChildLink::new(command, env.clone(), cwd.clone()))
        }
        Reach::Url { url, headers } => Box::new(super::http::HttpLink::new(url.clone(), headers.clone())),
    }
}

/// Starts the clock: it sleeps while nobody waits.
fn watch(upstreams: &[Arc<Upstream>]) -> Result<(), Error> {
    let watched: Vec<_> = upstreams.iter().map(Arc::downgrade).collect();
    let clock = std::thread::Builder::new().name("mcp-clock".to_owned()).stack_size(256 * 1024).spawn(move || {
        loop {
            let upstreams: Vec<_> = watched.iter().filter_map(std::sync::Weak::upgrade).collect();
            if upstreams.is_empty() {
                return;
            }
            let waits = upstreams.iter().filter(|upstream| upstream.expire()).count() > 0;
            drop(upstreams);
            if waits {
                std::thread::sleep(TICK);
            } else {
                std::thread::park_timeout(Duration::from_secs(60));
            }
        }
    });
    let clock = clock.map_err(|e| Error::io("start a thread for", std::path::Path::new("the gateway"), e))?;
    upstreams.iter().for_each(|upstream| upstream.set_clock(clock.thread().clone()));
    Ok(())
}
