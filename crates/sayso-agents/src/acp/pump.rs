//! Moves bytes: two pumps between an editor and the agent that we start, or one for a component of a chain.

use super::Setting;
use super::conductor::Component;
use super::proxy::{Onward, Proxy, Routed, Side};
use crate::pipe::{Agent, Frame, Frames, Reader, Refused, Sink, Stopped, error_line, skim};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long what an agent said last may take to arrive after its end, and our own last words to be taken.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What ends, or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The client will say nothing more.
    ClientEnded,
    /// The client does not listen any more.
    ClientGone,
    /// The agent will say nothing more.
    AgentEnded,
    /// The agent's process has ended.
    AgentExited,
    /// A side asks and does not read the answers.
    Flooded,
    /// We are told to end, by a signal.
    Told,
    /// Something inside Sayso failed.
    Failed,
}

/// Why everything ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Usual,
    Told,
    Failed,
}

/// Starts the agent and stands between it and the client on standard input and output, until either is gone. Tells
/// the exit code to end with.
///
/// # Errors
/// If the agent cannot be started, or the system has no more threads.
pub fn run_between(setting: Setting, command: &[OsString]) -> std::io::Result<u8> {
    let longest = setting.longest_line;
    let proxy = Proxy::new(setting);
    let (input, output) = (standard_input()?, standard_output()?);
    let (agent, agent_input, agent_output) = Agent::start(command)?;
    let (to_agent, to_client) = (Sink::new(agent_input)?, Sink::new(output)?);
    let (events, heard) = channel();
    let (agent_hears, client_hears) = (to_agent.clone(), to_client.clone());
    // What cannot be said any more is for nobody: the pump of that side sees the end itself.
    proxy.speaks_with(Box::new(move |to, line| {
        let _ = if to == Side::Agent { agent_hears.say(line) } else { client_hears.say(line) };
    }));
    let exited = events.clone();
    agent.when_ended(move || {
        let _ = exited.send(Event::AgentExited);
    })?;
    when_told(events.clone())?;
    let turns = Arc::new(AtomicUsize::new(0));
    let ends = Ends { to_agent: to_agent.clone(), to_client: to_client.clone(), longest, turns: Arc::clone(&turns) };
    start_pump(Side::Client, input, &proxy, &ends, events.clone())?;
    start_pump(Side::Agent, agent_output, &proxy, &ends, events)?;

    let end = until_end(&heard, &ends);
    proxy.abandon();
    to_agent.close();
    to_client.finish(LAST_WORDS);
    let ending = agent.end(end == End::Told)?;
    Ok(if end == End::Failed { 1 } else { ending.code() })
}

/// Waits until nothing is left to do.
fn until_end(heard: &Receiver<Event>, ends: &Ends) -> End {
    let (mut client_ended, mut exited_at) = (false, None);
    loop {
        let patience = if client_ended || exited_at.is_some() { LAST_WORDS } else { Duration::MAX };
        match heard.recv_timeout(patience) {
            // The agent decides what the end of its input means, and may have more to say.
            Ok(Event::ClientEnded) => {
                client_ended = true;
                ends.to_agent.close();
            }
            Ok(Event::AgentExited) => exited_at = Some(ends.turns.load(Ordering::SeqCst)),
            Ok(Event::Failed) => return End::Failed,
            Ok(Event::Told) => return End::Told,
            Ok(Event::AgentEnded | Event::ClientGone | Event::Flooded) | Err(RecvTimeoutError::Disconnected) => {
                return End::Usual;
            }
            Err(RecvTimeoutError::Timeout) => {
                // What an agent said before its end is still worked through; but another program may hold its pipe.
                let turn = ends.turns.load(Ordering::SeqCst);
                if exited_at == Some(turn) && turn.is_multiple_of(2) {
                    return End::Usual;
                }
                exited_at = exited_at.map(|_| turn);
                if client_ended && ends.to_client.is_deaf() {
                    return End::Usual;
                }
            }
        }
    }
}

/// Listens for the signals with which an editor ends its agent: the agent is ended with us.
fn when_told(events: Sender<Event>) -> std::io::Result<()> {
    let (mut told, tell) = std::io::pipe()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, tell.try_clone()?)?;
    }
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        if told.read_exact(&mut [0]).is_ok() {
            let _ = events.send(Event::Told);
        }
    })?;
    Ok(())
}

/// Is a component of a chain of proxies: everything goes through the conductor on standard input and output.
///
/// # Errors
/// If standard input or output cannot be used.
pub fn run_component(setting: Setting) -> std::io::Result<u8> {
    let longest = setting.longest_line;
    let proxy = Proxy::new(setting);
    let mut component = Component::new(Arc::clone(&proxy));
    let to_conductor = Sink::new(standard_output()?)?;
    let hears = to_conductor.clone();
    proxy.speaks_with(component.voice(move |line| {
        let _ = hears.say(line);
    }));
    let mut frames = Frames::new(standard_input()?, longest);
    loop {
        let lines = match frames.next()? {
            Frame::End => break,
            Frame::TooLong(skimmed) => component.too_long(&Refused::too_long(skimmed, longest)),
            Frame::Lines => {
                frames.lines().split_inclusive(|byte| *byte == b'\n').flat_map(|line| component.line(line)).collect()
            }
        };
        if lines.is_empty() {
            continue;
        }
        if to_conductor.pass(&lines.concat()).is_err() {
            break;
        }
    }
    proxy.abandon();
    to_conductor.finish(LAST_WORDS);
    Ok(0)
}

/// The two sinks, as each pump needs them.
#[derive(Clone)]
struct Ends {
    to_agent: Sink,
    to_client: Sink,
    longest: usize,
    /// Goes up when the agent's pump begins with what it has read, and when it is done: odd while it works.
    turns: Arc<AtomicUsize>,
}

impl Ends {
    fn to(&self, side: Side) -> &Sink {
        match side {
            Side::Client => &self.to_client,
            Side::Agent => &self.to_agent,
        }
    }
}

fn start_pump(from: Side, source: File, proxy: &Arc<Proxy>, ends: &Ends, events: Sender<Event>) -> std::io::Result<()> {
    let (proxy, ends) = (Arc::clone(proxy), ends.clone());
    let pump = move || {
        let mut pump = Pump { from, proxy: &proxy, ends: &ends, reader: Reader::default(), deaf: false };
        // A panic must not leave half a pipe open: it ends everything.
        let event = catch_unwind(AssertUnwindSafe(|| pump.run(source))).unwrap_or(Event::Failed);
        let _ = events.send(event);
    };
    std::thread::Builder::new().name(format!("{from:?}")).spawn(pump).map(|_| ())
}

struct Pump<'p> {
    from: Side,
    proxy: &'p Proxy,
    ends: &'p Ends,
    reader: Reader,
    /// The side across takes nothing any more.
    deaf: bool,
}

impl Pump<'_> {
    fn run(&mut self, source: File) -> Event {
        let mut frames = Frames::new(source, self.ends.longest);
        loop {
            let frame = frames.next();
            self.turn();
            let done = match frame {
                Err(_) | Ok(Frame::End) if self.from == Side::Client => return Event::ClientEnded,
                Err(_) | Ok(Frame::End) => return Event::AgentEnded,
                Ok(Frame::TooLong(skimmed)) => {
                    self.carry_out(Proxy::refused(self.from, &Refused::too_long(skimmed, self.ends.longest)))
                }
                Ok(Frame::Lines) => self.lines(frames.lines()),
            };
            if let Err(event) = done {
                return event;
            }
            self.turn();
        }
    }

    fn turn(&self) {
        if self.from == Side::Agent {
            self.ends.turns.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Lines that nothing is said about are passed on in one piece.
    fn lines(&mut self, lines: &[u8]) -> Result<(), Event> {
        let (mut kept, mut at) = (0, 0);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let routed = self.proxy.line(self.from, &mut self.reader, line);
            let passes = routed.onward == Onward::AsItCame;
            let end = at + line.len();
            if !passes || !routed.said.is_empty() {
                let upto = if passes { end } else { at };
                self.pass(lines.get(kept..upto).unwrap_or_default())?;
                self.carry_out(routed)?;
                kept = end;
            }
            at = end;
        }
        self.pass(lines.get(kept..).unwrap_or_default())
    }

    fn carry_out(&mut self, routed: Routed) -> Result<(), Event> {
        if let Onward::Instead(line) = &routed.onward {
            self.pass(line)?;
        }
        for (to, line) in routed.said {
            if to == self.from {
                self.say(line)?;
            } else {
                self.pass(&line)?;
            }
        }
        Ok(())
    }

    fn pass(&mut self, lines: &[u8]) -> Result<(), Event> {
        if lines.is_empty() || !self.deaf && self.ends.to(self.from.other()).pass(lines).is_ok() {
            return Ok(());
        }
        if self.from == Side::Agent {
            return Err(Event::ClientGone);
        }
        // The agent has closed its input. Nobody shall wait for it in vain.
        self.deaf = true;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let skimmed = skim(line);
            if skimmed.request && skimmed.id.is_some() {
                self.say(error_line(skimmed.id.as_deref(), -32603, "The agent accepts no more messages.", None))?;
            }
        }
        Ok(())
    }

    fn say(&self, line: Vec<u8>) -> Result<(), Event> {
        match self.ends.to(self.from).say(line) {
            Ok(()) | Err(Stopped::Closed) => Ok(()),
            Err(Stopped::Flooded) => Err(Event::Flooded),
        }
    }
}

fn standard_input() -> std::io::Result<File> {
    std::io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

fn standard_output() -> std::io::Result<File> {
    std::io::stdout().as_fd().try_clone_to_owned().map(File::from)
}
