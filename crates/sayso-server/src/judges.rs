//! The threads on which calls are judged.
//!
//! The gate blocks: it looks at files and waits for the record. With a thread for each call most of the time would go
//! into switching between threads. Here a few threads judge one call after the other, and what they would say is
//! recorded together: by whoever has nothing left to judge, while others go on. Calls that wait together also share what
//! is seen of the same files: looking at paths is most of what a judgement costs.

use sayso_gate::{Once, RealFiles, Recorded, Unsaid};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many judgements are recorded without a look for further calls first.
const MANY: usize = 64;
/// A call that waits so long may stand behind one that hangs, on a file system that does not answer: another thread
/// is to take it. Not more often than this, and not more threads.
const TOO_LONG: Duration = Duration::from_millis(20);
const MOST_THREADS: usize = 256;
/// A thread ends when there was nothing to do for so long.
const IDLE: Duration = Duration::from_secs(5);

/// What is seen of files is looked at anew after so long, whoever waits.
const SEEN: Duration = Duration::from_millis(5);

/// Judges one call by what is seen of files. `None`: whoever asked is told already.
pub(crate) type Work = Box<dyn FnOnce(&Once<'_>) -> Option<Pending> + Send>;

/// What the gate would say, and how whoever asked is told once it is recorded.
pub(crate) struct Pending {
    pub(crate) unsaid: Unsaid,
    pub(crate) tell: Box<dyn FnOnce(Recorded) + Send>,
}

/// The threads on which calls are judged, and what they have to do.
pub(crate) struct Judges {
    desk: Mutex<Desk>,
    work: Condvar,
    /// How many threads there are where nothing hangs.
    usual: usize,
}

struct Desk {
    /// With their numbers.
    calls: VecDeque<(u64, Work)>,
    /// How many calls have come.
    came: u64,
    /// Judged, and not recorded.
    judged: Vec<Pending>,
    /// Somebody records.
    recording: bool,
    threads: usize,
    idle: usize,
    /// Somebody looks from time to time whether calls wait for too long.
    watched: bool,
}

/// What a thread does next.
enum Next {
    /// The call of this number; so many have come by now.
    Judge(Work, u64, u64),
    Record(Vec<Pending>),
    Leave,
}

impl Judges {
    pub(crate) fn new() -> Arc<Self> {
        let usual = std::thread::available_parallelism().map_or(2, |cores| cores.get().min(8));
        let (calls, judged) = (VecDeque::new(), Vec::new());
        let desk = Desk { calls, came: 0, judged, recording: false, threads: 0, idle: 0, watched: false };
        Arc::new(Self { desk: Mutex::new(desk), work: Condvar::new(), usual })
    }

    /// Has a call judged.
    pub(crate) fn judge(self: &Arc<Self>, work: Work) {
        let mut desk = self.lock();
        desk.came += 1;
        let number = desk.came;
        desk.calls.push_back((number, work));
        // Threads that are at work come back for more: waking another costs more than a few calls.
        let busy = desk.threads.saturating_sub(desk.idle);
        if busy == 0 || desk.calls.len() > 2 * busy {
            self.call_one(desk, self.usual);
        }
    }

    /// Has somebody look, for as long as calls come, whether one of them waits for too long: one clock for all of them,
    /// which is cheaper than one for each.
    pub(crate) fn keep_watch(self: &Arc<Self>) {
        if !std::mem::replace(&mut self.lock().watched, true) {
            let judges = Arc::clone(self);
            tokio::spawn(async move {
                let mut came = None;
                while judges.look_after(&mut came) {
                    tokio::time::sleep(TOO_LONG).await;
                }
            });
        }
    }

    /// `false`: nobody has come since the last look, when so many had, and nobody waits.
    fn look_after(self: &Arc<Self>, came: &mut Option<u64>) -> bool {
        let mut desk = self.lock();
        let last = came.replace(desk.came);
        if desk.calls.is_empty() && last == Some(desk.came) {
            // INVARIANT: under the lock: whoever comes next has somebody look again.
            desk.watched = false;
            return false;
        }
        // The first in the queue stood there at the last look already.
        if let (Some((first, _)), Some(last)) = (desk.calls.front(), last)
            && *first <= last
        {
            self.call_one(desk, MOST_THREADS);
        }
        true
    }

    fn call_one(self: &Arc<Self>, mut desk: MutexGuard<'_, Desk>, most: usize) {
        if desk.idle > 0 {
            drop(desk);
            return self.work.notify_one();
        }
        if desk.threads < most {
            let judges = Arc::clone(self);
            let thread = std::thread::Builder::new().name("sayso-judge".to_owned());
            // Without a thread the call waits for one of the others, or for the next who calls for help.
            if thread.spawn(move || judges.sit()).is_ok() {
                desk.threads += 1;
            }
        }
    }

    fn sit(&self) {
        let looked = Once::over(&RealFiles);
        let (mut since, mut good_for) = (Instant::now(), 0);
        loop {
            match self.next() {
                Next::Judge(work, number, came) => {
                    // INVARIANT: no call is judged by what was seen before it came.
                    if number > good_for || since.elapsed() > SEEN {
                        looked.forget();
                        (since, good_for) = (Instant::now(), came);
                    }
                    // Whoever asked learns of a panic by hearing nothing, and is refused.
                    if let Ok(Some(pending)) = catch_unwind(AssertUnwindSafe(|| work(&looked))) {
                        self.lock().judged.push(pending);
                    }
                }
                Next::Record(judged) => {
                    let _ = catch_unwind(AssertUnwindSafe(|| record(judged)));
                    self.lock().recording = false;
                }
                Next::Leave => return,
            }
        }
    }

    fn next(&self) -> Next {
        let mut desk = self.lock();
        loop {
            let records = !desk.recording && !desk.judged.is_empty();
            if records && (desk.judged.len() >= MANY || desk.calls.is_empty()) {
                desk.recording = true;
                return Next::Record(std::mem::take(&mut desk.judged));
            }
            if let Some((number, work)) = desk.calls.pop_front() {
                return Next::Judge(work, number, desk.came);
            }
            desk.idle += 1;
            let (woken, waited) = self.work.wait_timeout(desk, IDLE).unwrap_or_else(PoisonError::into_inner);
            desk = woken;
            desk.idle -= 1;
            // INVARIANT: whoever leaves does so under the lock, with nothing left to do.
            if waited.timed_out() && desk.calls.is_empty() && desk.judged.is_empty() {
                desk.threads -= 1;
                return Next::Leave;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Desk> {
        // A panic leaves nothing half done here: no foreign code runs under this lock.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn record(judged: Vec<Pending>) {
    let (unsaid, tell): (Vec<Unsaid>, Vec<_>) = judged.into_iter().map(|one| (one.unsaid, one.tell)).unzip();
    for (recorded, tell) in Unsaid::record_all(unsaid).zip(tell) {
        tell(recorded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn calls_behind_some_that_hang_are_judged_by_other_threads() {
        let judges = Judges::new();
        let (release, hang) = mpsc::channel::<()>();
        let hang = Arc::new(Mutex::new(hang));
        for _ in 0..2 * judges.usual {
            let hang = Arc::clone(&hang);
            judges.judge(Box::new(move |_| {
                let _ = hang.lock().map(|hang| hang.recv());
                None
            }));
        }
        let (tell, told) = mpsc::channel();
        judges.judge(Box::new(move |_| {
            tell.send("judged").unwrap();
            None
        }));
        let mut came = None;
        while told.recv_timeout(TOO_LONG) != Ok("judged") {
            assert!(judges.look_after(&mut came), "nobody goes while a call waits");
        }
        drop(release);
    }

    #[test]
    fn a_panic_is_its_callers_alone() {
        let judges = Judges::new();
        let (tell, told) = mpsc::channel::<()>();
        judges.judge(Box::new(move |_| {
            let _tell = tell;
            std::panic::resume_unwind(Box::new("a bug"));
        }));
        assert!(told.recv().is_err(), "nothing is said");
        let (tell, told) = mpsc::channel();
        judges.judge(Box::new(move |_| {
            tell.send(()).unwrap();
            None
        }));
        assert!(told.recv().is_ok());
    }

    #[test]
    fn a_call_sees_files_as_they_are_when_it_comes_or_later() {
        use sayso_policy::shell::{Files as _, Kind};
        let dir = tempfile::tempdir().unwrap();
        let judges = Judges::new();
        for n in 0..50 {
            let path = dir.path().join("x");
            let (tell, told) = mpsc::channel();
            let there = n % 2 == 0;
            if there {
                std::fs::write(&path, "x").unwrap()
            } else {
                std::fs::remove_file(&path).unwrap()
            }
            judges.judge(Box::new(move |looked| {
                tell.send(looked.kind(&path)).unwrap();
                None
            }));
            assert_eq!(told.recv().unwrap() != Kind::Missing, there, "{n}");
        }
    }
}
