//! Looking after the record while the server runs: its chain is checked in the background, a little at a time, and heads are
//! copied to where nobody who can write the store can change them.

use crate::app::App;
use rustix::fs::OFlags;
use sayso_gate::Error;
use sayso_gate::audit::{Head, Problem, Verified};
use sayso_gate::store::Watch;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Records that are looked at without a rest.
const SLICE: usize = 500;
/// After so much work comes so many times as much rest: at most a tenth of one processor.
const REST: u32 = 9;
/// Between two ways through the whole chain, at least; and so many times as long as the last one took.
const BETWEEN: Duration = Duration::from_secs(5);
const BETWEEN_TIMES: u32 = 10;
/// How often the newest records are looked at.
const NEWEST: Duration = Duration::from_secs(1);
/// What the newest records said stands until so many ways have ended: the one that was under way may have passed them by,
/// and whoever has others written behind them would have it forgotten.
const PASSES: u32 = 2;
/// How often the chain says that it was checked and is whole.
const BETWEEN_RECORDS: Duration = Duration::from_secs(60 * 60);
/// How often a head is copied elsewhere, if there are new records.
const BETWEEN_ANCHORS: Duration = Duration::from_secs(60);
/// Sketches that are made at a time, for searching.
const SKETCHES: usize = 16;
/// The longest file of heads that is read back.
const LONGEST: u64 = 64 * 1024 * 1024;

/// What is known of the record.
#[derive(Default)]
pub(crate) struct Watched {
    state: Mutex<State>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// What is wrong with the chain, or with the files that it is in.
    pub(crate) broken: Option<String>,
    /// What is wrong with the file of heads, or what it says is wrong.
    pub(crate) anchor: Option<String>,
    /// When the whole chain was last looked at, in milliseconds since 1970.
    pub(crate) checked_ms: Option<u64>,
    /// How many records that were.
    pub(crate) records: u64,
}

impl Watched {
    pub(crate) fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Says a sentence where the owner sees it.
pub(crate) type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// Watches until the app is gone.
pub(crate) fn begin(app: &Arc<App>, report: Report) {
    let anchor = app.about.anchor.clone();
    // Before the first call is judged: what a server has found before this one stands until it was looked at again.
    let last = app.store().last_checked().ok().flatten().filter(|last| last.problems > 0);
    let distrusts = last.map(|_| "the last check found it altered, and it is being checked again".to_owned());
    let cut = app.store().end_problem().unwrap_or_else(|error| Some(error.to_string()));
    app.store().set_alarm(cut.as_deref().or(distrusts.as_deref()));
    let app = Arc::downgrade(app);
    let watch = move || {
        let Some(known) = app.upgrade() else { return };
        let mut watcher = Watcher {
            watch: Watch::over(&known.store()),
            distrusts,
            cut,
            noted: 0,
            anchor,
            report,
            pass: Duration::ZERO,
            next_pass: Instant::now(),
            next_newest: Instant::now(),
            next_anchor: Instant::now(),
            said: None,
            replaced: None,
            newest: None,
            newest_stands: 0,
            whole: None,
            failed: 0,
            last: 0,
            shorter: None,
            besides: None,
            last_anchor: 0,
            compared: false,
            disagrees: None,
        };
        drop(known);
        while let Some(app) = app.upgrade() {
            let rest = watcher.work(&app);
            drop(app);
            std::thread::sleep(rest);
        }
    };
    // Without a thread nothing is checked, and `checked_ms` says so.
    let _ = std::thread::Builder::new().name("sayso-watch".to_owned()).spawn(watch);
}

struct Watcher {
    watch: Watch,
    anchor: Option<PathBuf>,
    report: Report,
    /// How long the way through the chain has taken so far.
    pass: Duration,
    next_pass: Instant,
    next_newest: Instant,
    next_anchor: Instant,
    /// When the chain last said that it was checked.
    said: Option<Instant>,
    /// What a server before this one has found, until this one has looked at the whole chain.
    distrusts: Option<String>,
    /// What was there when a server last noted where the chain ends, and is missing. It stands until the owner accepts it.
    cut: Option<String>,
    /// The last record of the last note.
    noted: u64,
    /// The store's files are not those that were opened.
    replaced: Option<String>,
    /// What the newest records said, and what the whole chain did.
    newest: Option<String>,
    /// How many ways through the chain must come to their end before what the newest records said is forgotten.
    newest_stands: u32,
    whole: Option<String>,
    /// How many ways through the chain in a row came to no end, because the store could not be read.
    failed: u32,
    /// The last record that was ever found, and what is said of those that were found and are gone.
    last: u64,
    shorter: Option<String>,
    /// What was wrong beside what a look at the chain shows, when the chain was last told.
    besides: Option<String>,
    /// The last record whose head was copied elsewhere.
    last_anchor: u64,
    /// The heads that were copied by earlier servers were compared with the chain.
    compared: bool,
    /// What that found, if they do not agree: it holds as long as this server runs.
    disagrees: Option<Verified>,
}

impl Watcher {
    /// Does a little, and tells how long to rest.
    fn work(&mut self, app: &App) -> Duration {
        let began = Instant::now();
        if began >= self.next_newest {
            self.next_newest = began + NEWEST;
            if let Err(Error::Replaced(why)) = app.store().in_place() {
                self.replaced = Some(why.to_string());
                self.tell(app);
            }
            // Without it a remembered yes costs a little more.
            let _ = app.store().move_mark();
            // A store that cannot be read is told by whoever needs it.
            if let Ok(found) = self.watch.newest() {
                if found.is_some() {
                    (self.newest, self.newest_stands) = (found, PASSES);
                }
                self.tell(app);
            }
            self.note_end(app);
        }
        if began >= self.next_anchor {
            self.next_anchor = began + BETWEEN_ANCHORS;
            self.copy_head(app);
        }
        let mut busy = app.store().sketch(SKETCHES).unwrap_or(0) > 0;
        if began >= self.next_pass {
            busy = true;
            match self.watch.step(SLICE) {
                Ok(Some(found)) => self.ended(app, &found, began),
                Ok(None) => self.pass += began.elapsed(),
                Err(error) => self.failed(app, &error),
            }
        }
        if busy { (began.elapsed() * REST).max(Duration::from_millis(1)) } else { Duration::from_millis(250) }
    }

    /// Notes where the chain ends, for the next server to compare with. Where something is missing, what was noted stays.
    fn note_end(&mut self, app: &App) {
        if self.cut.is_some() {
            self.cut = app.store().end_problem().unwrap_or_else(|error| Some(error.to_string()));
            self.tell(app);
        }
        if app.store().alarm().is_none() {
            // Without a note the next server compares with an older one.
            self.noted = app.store().note_end(self.noted).unwrap_or(self.noted);
        }
    }

    /// A way through the whole chain has ended.
    fn ended(&mut self, app: &App, found: &Verified, began: Instant) {
        self.distrusts = None;
        self.newest_stands = self.newest_stands.saturating_sub(1);
        if self.newest_stands == 0 {
            self.newest = None;
        }
        self.pass += began.elapsed();
        self.failed = 0;
        self.next_pass = Instant::now() + BETWEEN.max(self.pass * BETWEEN_TIMES);
        self.pass = Duration::ZERO;
        if !self.compared {
            self.compared = true;
            self.disagrees = self.compare(app);
        }
        let disagrees = self.disagrees.clone();
        let found = disagrees.as_ref().unwrap_or(found);
        // The newest records hang on nothing that would miss them.
        if found.last < self.last && self.shorter.is_none() {
            self.shorter = Some(format!("records {} to {} are gone", found.last + 1, self.last));
        }
        self.last = self.last.max(found.last);
        let whole = found.problems.first().map(|first| in_words(first, found)).or_else(|| self.shorter.clone());
        let changed = whole != self.whole;
        self.whole = whole;
        app.watched.change(|state| {
            state.checked_ms = Some(crate::clock::now_ms());
            state.records = found.records;
        });
        self.tell(app);
        // What the store has noticed itself: records that this server has written are gone.
        let lost = app.store().alarm().filter(|why| self.found().as_deref() != Some(why));
        let besides = self.cut.clone().or_else(|| self.shorter.clone()).or_else(|| lost.map(|why| why.to_string()));
        let changed = changed || besides != self.besides;
        self.besides.clone_from(&besides);
        if changed || self.said.is_none_or(|said| said.elapsed() > BETWEEN_RECORDS) {
            self.said = Some(Instant::now());
            let _ = self.watch.say(found, besides.as_deref());
        }
    }

    /// The store could not be read. Once, somebody may have been in the way.
    fn failed(&mut self, app: &App, error: &Error) {
        self.next_pass = Instant::now() + BETWEEN;
        self.failed += 1;
        if self.failed > 1 {
            self.whole = Some(format!("it cannot be read ({error})"));
            self.tell(app);
        }
    }

    /// What the checks have found.
    fn found(&self) -> Option<String> {
        let found = [&self.replaced, &self.cut, &self.whole, &self.newest, &self.distrusts];
        found.into_iter().find_map(Option::clone)
    }

    /// Says what is wrong, at the terminal and to whoever asks, and has the gate stop allowing.
    fn tell(&self, app: &App) {
        let broken = self.found();
        let stops = app.store().set_alarm(broken.as_deref()).map(|why| why.to_string());
        let broken = broken.or(stops);
        let before = app.watched.state().broken;
        if broken != before {
            (self.report)(&match &broken {
                Some(why) if self.replaced.is_some() => {
                    format!("ALARM: the database is gone: {why}. Nothing is allowed until this server is restarted.")
                }
                Some(why) => format!(
                    "ALARM: the record has been altered: {why}. Nothing is allowed until that is put right. Run `sayso log verify` for \
                     details, and `sayso explain record-altered` for what to do."
                ),
                None => "the record is intact again, as far as it was checked.".to_owned(),
            });
        }
        app.watched.change(|state| state.broken = broken);
    }

    /// Appends the head of this moment to the file elsewhere, if there are new records.
    fn copy_head(&mut self, app: &App) {
        let Some(path) = &self.anchor else { return };
        let copied = (|| {
            let head = app.store().sign_head().map_err(|error| error.to_string())?;
            if head.seq != self.last_anchor {
                append(path, &head).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
                self.last_anchor = head.seq;
            }
            Ok::<_, String>(())
        })();
        self.set_anchor(app, copied.err());
    }

    /// Compares the heads that are elsewhere with the chain: a store of an earlier time has none of the later records. Gives
    /// what was found if they do not agree.
    fn compare(&self, app: &App) -> Option<Verified> {
        let path = self.anchor.as_ref()?;
        let (heads, unreadable) = match heads(path) {
            Ok(heads) => heads,
            Err(error) => {
                self.set_anchor(app, Some(error));
                return None;
            }
        };
        let found = app.store().verify_with(heads).ok()?;
        let wrong = found.problems.first().map(|first| in_words(first, &found));
        if let Some(wrong) = &wrong {
            self.set_anchor(app, Some(format!("the heads in {} do not match: {wrong}", path.display())));
        } else if let Some(line) = unreadable {
            self.set_anchor(app, Some(format!("line {line} of {} is not a head", path.display())));
        }
        wrong.map(|_| found)
    }

    fn set_anchor(&self, app: &App, wrong: Option<String>) {
        if let Some(why) = wrong.as_ref().filter(|why| app.watched.state().anchor.as_ref() != Some(*why)) {
            (self.report)(&format!("ALARM: {why}"));
        }
        // What the heads said of the chain is not taken back by one that could be written.
        app.watched.change(|state| match (&state.anchor, &wrong) {
            (Some(before), _) if !before.starts_with("cannot write") => {}
            _ => state.anchor = wrong,
        });
    }
}

/// Copies where the chain ends when a server stops: else what came behind the last copy would be vouched for by none.
pub(crate) fn end(app: &App) {
    if app.store().alarm().is_none() {
        let _ = app.store().note_end(0);
    }
    if let Some(path) = &app.about.anchor
        && let Ok(head) = app.store().sign_head()
    {
        // Nobody is left to be told.
        let _ = append(path, &head);
    }
}

/// Adds a line to a file, or sends it into a pipe.
fn append(path: &Path, head: &Head) -> std::io::Result<()> {
    // A pipe that nobody reads is an error, and keeps nobody waiting.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    let is_file = file.metadata()?.is_file();
    let line = serde_json::to_string(head)? + "\n";
    // One that was cut off by a crash stays a line of its own.
    let begin = if is_file && is_cut_off(path)? { "\n" } else { "" };
    file.write_all(format!("{begin}{line}").as_bytes())?;
    if is_file { file.sync_data() } else { Ok(()) }
}

fn is_cut_off(path: &Path) -> std::io::Result<bool> {
    let mut file = std::fs::File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// The heads in a file, one a line, and the first line that is none. A pipe keeps nothing.
fn heads(path: &Path) -> Result<(Vec<Head>, Option<usize>), String> {
    let wrong = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let meta = std::fs::metadata(path).map_err(|error| wrong(&error))?;
    if !meta.is_file() {
        return Ok((Vec::new(), None));
    }
    if meta.len() > LONGEST {
        return Err(wrong(&"it is too long; start a new one"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    let (mut heads, mut unreadable) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(head) => heads.push(head),
            Err(_) => drop(unreadable.get_or_insert(number + 1)),
        }
    }
    Ok((heads, unreadable))
}

fn in_words(first: &Problem, found: &Verified) -> String {
    let more = found.more_problems + u64::try_from(found.problems.len()).unwrap_or(u64::MAX) - 1;
    let more = if more == 0 { String::new() } else { format!(", and {more} more problems") };
    let what = match first {
        Problem::Changed { seq, .. } => format!("record {seq} was changed"),
        Problem::Removed { seq, .. } => format!("records are missing at {seq}"),
        Problem::Inserted { seq, .. } => format!("records were inserted at {seq}"),
        Problem::CutOff { last, head } => format!("records {} to {head} are missing at the end", last + 1),
        Problem::Rewritten { head, .. } => format!("the records up to {head} were rewritten"),
        Problem::NotSigned { seq } => format!("the head of record {seq} is not signed with the key of this store"),
        Problem::HeadsRemoved { after, .. } => format!("signed heads after record {after} were removed"),
        Problem::WrongHead { why } => format!("a head copied elsewhere: {why}"),
    };
    format!("{what}{more}")
}
