//! Questions that are put while a run waits.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What a run wants that its bounds do not allow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wish {
    /// A connection to a host. The name is as the run gave it, and was not resolved.
    Connect {
        /// The name.
        host: String,
        /// The port.
        port: u16,
    },
    /// A file outside the bounds, opened for writing. Without links: this very file is opened.
    Write {
        /// The file.
        path: PathBuf,
    },
}

/// What is said to a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done, exactly as it was shown, and as often as the run wants it while the hold lasts.
    Yes,
    /// It is refused, as it would have been without a question.
    No,
    /// It is refused now: nobody is there who could be asked. The next time it is asked again.
    NotNow,
}

/// Whether somebody could be asked now. Called before names that are not allowed get an address.
pub type Attended = Arc<dyn Fn() -> bool + Send + Sync>;

/// Who is asked about what the runs of a session want.
#[derive(Clone)]
pub struct Asking {
    /// Answers.
    pub ask: Ask,
    /// Whether somebody could be asked now.
    pub attended: Attended,
    /// Whether files outside the bounds are asked about too, which makes every opening for writing slower.
    pub writes: bool,
}

/// Answers wishes. It is called on a thread of its own, and may take its time; silence is for it to end, with a no.
pub type Ask = Arc<dyn Fn(&Wish) -> Answer + Send + Sync>;

/// The answers of one hold. Nothing is asked twice.
#[derive(Clone)]
pub(crate) struct Answers {
    ask: Ask,
    known: Arc<Mutex<HashMap<Wish, Arc<OnceLock<Answer>>>>>,
    is_over: Arc<AtomicBool>,
}

/// How many different questions a run can cause.
const MOST: usize = 100;

impl Answers {
    pub(crate) fn new(ask: Ask) -> Self {
        Self { ask, known: Arc::default(), is_over: Arc::default() }
    }

    /// Whether a wish is granted. Waits for the answer.
    pub(crate) fn allow(&self, wish: &Wish) -> bool {
        let answer = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match known.get(wish) {
                Some(answer) => Arc::clone(answer),
                None if known.len() >= MOST => return false,
                None => Arc::clone(known.entry(wish.clone()).or_default()),
            }
        };
        let cell = answer;
        let answer = *cell.get_or_init(|| (self.ask)(wish));
        if answer == Answer::NotNow {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.get(wish).is_some_and(|it| Arc::ptr_eq(it, &cell)) {
                known.remove(wish);
            }
        }
        // A yes that comes when nobody waits any more opens nothing.
        answer == Answer::Yes && !self.is_over.load(Ordering::SeqCst)
    }

    /// The run has ended.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn wish(number: usize) -> Wish {
        Wish::Connect { host: format!("h{number}.example"), port: 443 }
    }

    #[test]
    fn a_question_is_put_once_and_not_endlessly_many_are() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let answers = Answers::new(Arc::new(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Answer::Yes
        }));
        for _ in 0..3 {
            assert!(answers.allow(&wish(0)));
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let granted = (0..1_000).filter(|number| answers.allow(&wish(*number))).count();
        assert_eq!((granted, asked.load(Ordering::SeqCst)), (MOST, MOST));
    }

    #[test]
    fn where_nobody_was_there_it_is_asked_again() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let answers = Answers::new(Arc::new(move |_| match count.fetch_add(1, Ordering::SeqCst) {
            0 => Answer::NotNow,
            _ => Answer::Yes,
        }));
        assert!(!answers.allow(&wish(0)));
        assert!(answers.allow(&wish(0)));
        assert!(answers.allow(&wish(0)));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn an_answer_that_comes_too_late_is_a_no() {
        let answers = Answers::new(Arc::new(|_| Answer::Yes));
        answers.end();
        assert!(!answers.allow(&wish(1)));
    }
}
