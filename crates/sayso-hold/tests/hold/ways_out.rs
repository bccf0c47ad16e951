//! Every attempt, held whole, held files, and not held at all.

use crate::room::{Room, can_hold};
use sayso_hold::{Level, Open, left_open};
use std::collections::BTreeSet;

/// The attempts that get through *held files*, and what of the list lets them.
const THROUGH_FILES: &[(&str, Open)] = &[
    ("chmod-outside", Open::Metadata),
    ("fchmodat2-outside", Open::Metadata),
    ("utime-outside", Open::Metadata),
    ("chown-outside", Open::Metadata),
    ("xattr-outside", Open::Metadata),
    ("set-flags-outside", Open::Metadata),
    ("set-attributes-outside", Open::Metadata),
    ("access-list-outside", Open::Metadata),
    ("change-by-descriptor-outside", Open::Metadata),
    ("read-secret-by-another-process", Open::SecretsInside),
    ("exchange-git-folder", Open::SteeringFiles),
    ("write-git-config-by-lock-file", Open::SteeringFiles),
    ("link-git-hooks", Open::SteeringFiles),
    ("read-secret", Open::SecretsInside),
    ("read-refused", Open::SecretsInside),
    ("chmod-refused-and-read", Open::SecretsInside),
    ("see-hidden", Open::Names),
    ("read-secret-by-old-hard-link", Open::SecretsInside),
    ("read-secret-by-new-hard-link", Open::SecretsInside),
    ("move-secret-and-read", Open::SecretsInside),
    ("remove-decoy-and-read", Open::SteeringFiles),
    ("read-secret-after-moving-its-folder", Open::SecretsInside),
    ("reopen-secret-by-descriptor", Open::SecretsInside),
    ("write-secret", Open::SteeringFiles),
    ("write-git-config", Open::SteeringFiles),
    ("remove-git-config", Open::SteeringFiles),
    ("replace-git-config", Open::SteeringFiles),
    ("exchange-git-config", Open::SteeringFiles),
    ("move-git-away", Open::SteeringFiles),
    ("chmod-git-config", Open::SteeringFiles),
    ("add-git-hook", Open::SteeringFiles),
    ("replace-git-hooks", Open::SteeringFiles),
    ("write-git-config-by-old-hard-link", Open::SteeringFiles),
    ("write-through-guarded-symlink", Open::SteeringFiles),
    ("read-arguments-of-victim", Open::Processes),
    ("renice-victim", Open::Priorities),
    ("pin-victim", Open::Priorities),
    ("read-scratch-of-others", Open::SecretsInside),
    ("read-scratch-of-others-by-own-root", Open::SecretsInside),
    ("read-scratch-of-others-by-dots", Open::SecretsInside),
    ("read-scratch-of-others-by-link", Open::SecretsInside),
    ("read-scratch-file-of-others", Open::SecretsInside),
    ("read-scratch-after-renaming-it", Open::SecretsInside),
    ("read-scratch-after-giving-rights", Open::SecretsInside),
    ("read-scratch-by-hard-link", Open::SecretsInside),
    ("read-settings-by-old-hard-link", Open::SecretsInside),
    ("write-scratch-of-others", Open::SteeringFiles),
    ("append-to-scratch-of-others", Open::SteeringFiles),
    ("truncate-scratch-of-others", Open::SteeringFiles),
    ("remove-scratch-of-others", Open::SteeringFiles),
    ("replace-scratch-of-others", Open::SteeringFiles),
    ("exchange-scratch-of-others", Open::SteeringFiles),
    ("move-scratch-of-others", Open::SteeringFiles),
    ("move-scratch-folder-of-others", Open::SteeringFiles),
    ("add-to-scratch-folder-of-others", Open::SteeringFiles),
    ("write-in-scratch-folder-of-others", Open::SteeringFiles),
    ("chmod-scratch-of-others", Open::SteeringFiles),
    ("write-scratch-of-others-by-hard-link", Open::SteeringFiles),
    ("listen-in-place-of-others", Open::SteeringFiles),
    ("listen-in-a-folder-in-place-of-others", Open::SteeringFiles),
    ("listen-in-place-of-a-bare-socket", Open::SteeringFiles),
    ("move-a-bare-socket", Open::SteeringFiles),
    ("chmod-by-descriptor-outside", Open::Metadata),
    ("utime-by-descriptor-outside", Open::Metadata),
    ("watch-hidden", Open::Names),
    ("list-descriptors-of-victim", Open::Processes),
    ("make-victim-idle", Open::Priorities),
    ("delay-files-of-victim", Open::Priorities),
];

fn names() -> Vec<String> {
    let list = std::process::Command::new(env!("CARGO_BIN_EXE_sayso-hold-attempt")).arg("--list").output().unwrap();
    String::from_utf8(list.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Makes every attempt in a room of its own; the names of those that got through, with what gives them away.
fn those_through(level: Option<&str>) -> Vec<(String, String)> {
    those_of(&names(), level)
}

fn those_of(names: &[String], level: Option<&str>) -> Vec<(String, String)> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let one_after_the_other = || {
        let mut through = Vec::new();
        while let Some(name) = names.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
            let mut room = Room::new();
            let (outside, steering) = (room.outside(), room.steering());
            let output = room.attempt(name, level);
            // Whoever ends its own keeper ends itself.
            let made =
                level.is_none() || name.contains("group") || !matches!(output.status.code(), Some(99 | 125..=127));
            assert!(made, "{name}: was not made: {}", String::from_utf8_lossy(&output.stderr));
            if let Some(why) = room.evidence(&output, &outside, &steering) {
                through.push((name.clone(), why));
            }
        }
        through
    };
    // They wait more than they work.
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(one_after_the_other)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn held_whole_nothing_gets_through() {
    if !can_hold() {
        return;
    }
    let names = names();
    assert!(names.len() >= 270, "{} attempts", names.len());
    let through = those_through(Some("whole"));
    eprintln!("held whole: {} attempts, {} got through", names.len(), through.len());
    assert!(through.is_empty(), "{through:#?}");
}

#[test]
fn held_files_exactly_what_is_listed_gets_through() {
    if !can_hold() {
        return;
    }
    let through = those_through(Some("files"));
    let names: BTreeSet<&str> = through.iter().map(|(name, _)| name.as_str()).collect();
    let listed: BTreeSet<&str> = THROUGH_FILES.iter().map(|(name, _)| *name).collect();
    eprintln!("held files: {} got through, {} are listed", names.len(), listed.len());
    let unlisted: Vec<_> = through.iter().filter(|(name, _)| !listed.contains(name.as_str())).collect();
    let closed: Vec<_> = listed.difference(&names).collect();
    assert!(
        unlisted.is_empty() && closed.is_empty(),
        "got through and not listed: {unlisted:#?}\nlisted and did not: {closed:#?}"
    );
    let witnessed: BTreeSet<Open> = THROUGH_FILES.iter().map(|(_, open)| *open).collect();
    let said: BTreeSet<Open> = left_open(Level::Files).iter().copied().collect();
    assert_eq!(witnessed, said, "every entry of the list is shown by an attempt, and the other way round");
}

/// An attempt that would not work anyway shows nothing.
#[test]
fn most_attempts_get_through_without_a_hold() {
    let through = those_through(None);
    let names = names();
    let without: Vec<_> = names.iter().filter(|name| !through.iter().any(|(its, _)| its == *name)).collect();
    eprintln!("not held: {} of {} attempts got through; not: {without:?}", through.len(), names.len());
    assert!(through.len() >= 120, "{} got through; not: {without:?}", through.len());
}

/// Root is a user like others, but owns the machine's files.
#[test]
fn held_whole_nothing_gets_through_for_root_either() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not run: this is not root");
        return;
    }
    if !can_hold() {
        return;
    }
    let mut names = names();
    // Not those that would change the machine's own mounts if the hold did not hold.
    let mounts = names.iter().position(|name| name == "mount-over-workspace").unwrap();
    names.truncate(mounts);
    crate::room::stay_root();
    let through = those_of(&names, Some("whole"));
    eprintln!("held whole as root: {} attempts, {} got through", names.len(), through.len());
    assert!(through.is_empty(), "{through:#?}");
}
