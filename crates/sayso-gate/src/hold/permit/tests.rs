//! Permits of a folder of their own: kept, redeemed, refused and forgotten.

use super::kept::millis;
use super::*;
use crate::audit::now_ms;
use sayso_policy::{Actor, Answer, Decision, Verdict};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::SystemTime;

fn allow() -> Permit {
    let decision = Decision {
        verdict: Verdict::Allow,
        answer: Answer::Allow,
        would: None,
        unanswered: None,
        hold: None,
        reasons: Vec::new(),
        effects: Vec::new(),
        policy_version: "p1".to_owned(),
        deeds: None,
        risk: None,
    };
    Permit::of(Some("digest"), &decision).unwrap()
}

struct Room {
    dir: tempfile::TempDir,
    permits: HoldPermits,
}

impl Room {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let permits = HoldPermits::at(&Places::below(dir.path(), dir.path()));
        Self { dir, permits }
    }

    fn terms(&self) -> Terms {
        Terms {
            words: words(&["/bin/sh", "-c", "make test"]),
            folder: self.dir.path().to_owned(),
            session: Some("s1".to_owned()),
            agent: Some("claude-code".to_owned()),
            actor: Some(Box::new(Actor { team: Some("a".to_owned()), ..Actor::default() })),
            call_id: Some("call-1".to_owned()),
            workspace: PathBuf::from(OsStr::from_bytes(b"/w/\xff\n")),
            home: Some("/home/ann".into()),
            policy_version: "p1".to_owned(),
            record: "r1".to_owned(),
            need: Need::Whole,
            required: true,
            expires_ms: now_ms() + 60_000,
        }
    }

    fn issue(&self) -> String {
        self.permits.issue(allow(), self.terms()).unwrap()
    }

    fn redeem(&self, id: &str) -> Result<Terms, Refused> {
        self.permits.redeem(id, &self.terms().words, self.dir.path())
    }

    fn code(&self, id: &str) -> &'static str {
        self.redeem(id).unwrap_err().why.code()
    }

    fn file(&self, id: &str) -> PathBuf {
        self.permits.path(State::Open).join(name_of(id))
    }

    fn count(&self, state: State) -> usize {
        std::fs::read_dir(self.permits.path(state)).map_or(0, Iterator::count)
    }
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

#[test]
fn a_permit_is_redeemed_once() {
    let room = Room::new();
    let id = room.issue();
    assert_eq!(id.len(), 32);
    let terms = room.redeem(&id).unwrap();
    assert_eq!(
        Terms { expires_ms: 0, ..terms },
        Terms { expires_ms: 0, folder: real(room.dir.path()), ..room.terms() }
    );
    assert_eq!(room.code(&id), "used");
    assert_eq!(room.code("0123456789abcdef0123456789abcdef"), "unknown");
    for id in ["", "../../spool.key", "\u{0}", &"a".repeat(100_000)] {
        assert_eq!(room.code(id), "unknown");
    }
}

#[test]
fn nothing_on_disk_tells_the_number_or_the_words() {
    let room = Room::new();
    let id = room.issue();
    let path = room.file(&id);
    assert!(!path.to_string_lossy().contains(&id));
    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
    assert!(!text.contains(&id) && !text.contains("make test"), "{text}");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn another_command_or_folder_is_refused_and_the_permit_is_gone() {
    let room = Room::new();
    for other in [
        words(&["/bin/sh", "-c", "make test "]),
        words(&["/bin/sh", "-c make test"]),
        words(&["/bin/sh", "-c", "make test", ""]),
        words(&[]),
    ] {
        let id = room.issue();
        let refused = room.permits.redeem(&id, &other, room.dir.path()).unwrap_err();
        assert_eq!(refused.why.code(), "other-words", "{other:?}");
        assert_eq!(refused.terms.unwrap().record, "r1");
        assert_eq!(room.code(&id), "used");
    }
    let id = room.issue();
    let refused = room.permits.redeem(&id, &room.terms().words, Path::new("/")).unwrap_err();
    assert_eq!(refused.why.code(), "other-folder");
}

#[test]
fn a_folder_may_be_named_in_another_way() {
    let room = Room::new();
    let (real, link) = (room.dir.path().join("real"), room.dir.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let terms = Terms { folder: link, ..room.terms() };
    let id = room.permits.issue(allow(), terms).unwrap();
    assert!(room.permits.redeem(&id, &room.terms().words, &real).is_ok());
}

#[test]
fn an_expired_permit_is_refused() {
    let room = Room::new();
    let id = room.permits.issue(allow(), Terms { expires_ms: now_ms(), ..room.terms() }).unwrap();
    assert_eq!(room.code(&id), "expired");
    // Nobody gets longer than the limit.
    let id = room.permits.issue(allow(), Terms { expires_ms: u64::MAX, ..room.terms() }).unwrap();
    assert!(room.redeem(&id).unwrap().expires_ms <= now_ms() + millis(LIFETIME));
}

#[test]
fn a_permit_ends_with_the_machines_clock_and_with_its_start() {
    let room = Room::new();
    let kept = Kept::of(&room.terms()).unwrap();
    assert!(!kept.is_over());
    let up = kept.issued_up_ms;
    assert!(Kept { issued_up_ms: up.saturating_sub(61_000), ..Kept::of(&room.terms()).unwrap() }.is_over());
    assert!(Kept { issued_up_ms: up + 60_000, ..Kept::of(&room.terms()).unwrap() }.is_over());
    assert!(Kept { issued_ms: now_ms() + 60_000, ..Kept::of(&room.terms()).unwrap() }.is_over());
    assert!(Kept { boot: "another".to_owned(), ..Kept::of(&room.terms()).unwrap() }.is_over());
}

#[test]
fn a_file_that_somebody_else_could_have_written_is_refused() {
    let room = Room::new();
    let id = room.issue();
    std::fs::set_permissions(room.file(&id), std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(room.code(&id), "not-safe");

    let id = room.issue();
    std::fs::hard_link(room.file(&id), room.dir.path().join("twin")).unwrap();
    assert_eq!(room.code(&id), "not-safe");

    let id = room.issue();
    let elsewhere = room.dir.path().join("elsewhere");
    std::fs::rename(room.file(&id), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, room.file(&id)).unwrap();
    assert_eq!(room.code(&id), "failed");

    let id = room.issue();
    std::fs::remove_file(room.file(&id)).unwrap();
    std::fs::create_dir(room.file(&id)).unwrap();
    assert_eq!(room.code(&id), "failed");
}

#[test]
fn a_forged_or_changed_file_is_refused() {
    let room = Room::new();
    // Another key.
    let id = room.issue();
    let own = std::fs::read(room.file(&id)).unwrap();
    let (seal, content) = own.split_at(SEAL);
    let changed = String::from_utf8_lossy(content).replace("\"whole\":true", "\"whole\":false").into_bytes();
    assert_ne!(changed, content);
    std::fs::write(room.file(&id), [seal, &changed].concat()).unwrap();
    assert_eq!(room.code(&id), "forged");
    for bytes in [&b""[..], b"{}", &own[..SEAL], &own[..own.len() - 1]] {
        let id = room.issue();
        std::fs::write(room.file(&id), bytes).unwrap();
        assert_eq!(room.code(&id), "forged");
    }
    // A file under another number's name.
    let (one, two) = (room.issue(), room.issue());
    std::fs::rename(room.file(&one), room.file(&two)).unwrap();
    assert_eq!(room.code(&two), "forged");
}

#[test]
fn of_many_that_come_at_once_one_gets_it() {
    let room = Room::new();
    for _ in 0..20 {
        let id = room.issue();
        let won = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| room.redeem(&id).is_ok())).collect();
            all.into_iter().map(|one| one.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(won, 1);
    }
}

#[test]
fn their_number_is_bounded() {
    let room = Room::new();
    for _ in 0..MOST_OPEN {
        room.issue();
    }
    assert!(matches!(room.permits.issue(allow(), room.terms()), Err(Error::Unsafe { .. })));
    assert_eq!(room.count(State::Open), MOST_OPEN);
    // Those that are over make room.
    let old = SystemTime::now() - LIFETIME * 2;
    for path in names(&room.permits.path(State::Open)).unwrap().iter().take(3) {
        std::fs::File::open(path).unwrap().set_modified(old).unwrap();
    }
    room.issue();
    assert_eq!(room.count(State::Open), MOST_OPEN - 2);
}

#[test]
fn the_end_of_a_call_tells_whether_its_permit_was_redeemed() {
    let room = Room::new();
    let outcome = |call| room.permits.outcome(Some("claude-code"), Some("s1"), call);
    assert_eq!(outcome("call-1"), None);
    let id = room.issue();
    room.redeem(&id).unwrap();
    assert_eq!(outcome("call-2"), None);
    assert_eq!(room.permits.outcome(None, Some("s1"), "call-1"), None);
    assert_eq!(outcome("call-1"), Some(Redemption::Redeemed));
    assert_eq!(outcome("call-1"), None);
    // Nobody came, and nobody can any more.
    let id = room.issue();
    assert_eq!(outcome("call-1"), Some(Redemption::NotRedeemed));
    assert_eq!(room.code(&id), "unknown");
    // A hook that was asked twice has handed out two, and the agent used one.
    let (one, _two) = (room.issue(), room.issue());
    room.redeem(&one).unwrap();
    assert_eq!(outcome("call-1"), Some(Redemption::Redeemed));
    for state in [State::Open, State::Spent, State::Calls] {
        assert_eq!(room.count(state), 0, "{}", state.folder());
    }
}

#[test]
fn an_expired_permit_was_not_redeemed() {
    let room = Room::new();
    let id = room.issue();
    std::fs::remove_file(room.file(&id)).unwrap();
    let outcome = room.permits.outcome(Some("claude-code"), Some("s1"), "call-1");
    assert_eq!(outcome, Some(Redemption::NotRedeemed));
}

#[test]
fn a_run_of_no_call_leaves_nothing_behind() {
    let room = Room::new();
    let id = room.permits.issue(allow(), Terms { call_id: None, ..room.terms() }).unwrap();
    room.redeem(&id).unwrap();
    assert_eq!((room.count(State::Open), room.count(State::Spent), room.count(State::Calls)), (0, 0, 0));
    assert_eq!(room.code(&id), "unknown");
}

#[test]
fn old_ones_are_forgotten() {
    let room = Room::new();
    let (one, two) = (room.issue(), room.issue());
    room.redeem(&one).unwrap();
    let old = SystemTime::now() - REMEMBERED * 2;
    let spent = room.permits.path(State::Spent).join(name_of(&one));
    for path in [&spent, &room.file(&two)] {
        std::fs::File::open(path).unwrap().set_modified(old).unwrap();
    }
    std::fs::remove_file(room.dir.path().join(".local/state/sayso/hold/permits/swept")).unwrap();
    room.issue();
    assert!(!spent.exists() && !room.file(&two).exists());
}
