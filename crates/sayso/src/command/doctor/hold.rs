//! What this machine can hold, by trying; and what to do about what it cannot.

use super::Part;
use crate::command::run::inner;
use crate::show::paint::Paint;
use sayso_hold::{Launch, Level, left_open};
use sayso_policy::Verdict;
use sayso_policy::explain::visible;
use sayso_policy::shell::bounds::Bounds;
use serde_json::{Value, json};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

/// What the kernel keeps here.
pub(crate) struct Machine {
    /// Held whole, or why not.
    whole: Result<(), String>,
    /// Held files, or why not.
    files: Result<(), String>,
    /// What its owner can do about it.
    advice: Vec<String>,
}

impl Machine {
    /// Holds a program that does nothing, in both ways.
    pub(crate) fn look() -> Self {
        let whole = hold(Level::Whole);
        let files = hold(Level::Files);
        let advice = if whole.is_ok() { Vec::new() } else { Facts::here().advice() };
        Self { whole, files, advice }
    }

    /// How strongly commands can be held.
    pub(crate) fn can_hold(&self) -> sayso_policy::CanHold {
        match (&self.whole, &self.files) {
            (Ok(()), _) => sayso_policy::CanHold::Whole,
            (_, Ok(())) => sayso_policy::CanHold::Files,
            _ => sayso_policy::CanHold::No,
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole.is_ok()
    }

    pub(super) fn level(&self) -> &'static str {
        match (&self.whole, &self.files) {
            (Ok(()), _) => "whole",
            (_, Ok(())) => "files",
            _ => "none",
        }
    }

    /// One line of the report. A machine that holds nothing is no fault of the guard.
    pub(super) fn in_a_line(&self) -> Part {
        let more = "`sayso doctor --hold` says what to do";
        Ok(match (&self.whole, &self.files) {
            (Ok(()), _) => "commands can be held whole".to_owned(),
            (Err(why), Ok(())) => format!("commands can only be held to files: {why}; {more}"),
            (Err(why), _) => format!("commands cannot be held here: {why}; {more}"),
        })
    }

    pub(super) fn as_json(&self) -> Value {
        let said = |tried: &Result<(), String>| match tried {
            Ok(()) => json!({"ok": true}),
            Err(why) => json!({"ok": false, "text": why}),
        };
        let open: &[sayso_hold::Open] = if self.level() == "files" { left_open(Level::Files) } else { &[] };
        json!({
            "level": self.level(),
            "whole": said(&self.whole),
            "files": said(&self.files),
            "left_open": open.iter().map(|it| it.text()).collect::<Vec<_>>(),
            "advice": self.advice,
        })
    }

    pub(super) fn as_text(&self, paint: Paint) -> String {
        let mut text = String::new();
        for (name, tried) in [("whole", &self.whole), ("files", &self.files)] {
            let line = match tried {
                Ok(()) => paint.verdict(Verdict::Allow, "yes"),
                Err(why) => format!("{}   {}", paint.verdict(Verdict::Deny, "no"), visible(why)),
            };
            text.push_str(&format!("held {name}  {line}\n"));
        }
        let said = match self.level() {
            "whole" => "`sayso run` can hold commands to files, hosts, sockets and processes of their own.",
            "files" => {
                "`sayso run --need files` can hold commands to files, without network. Policies with `need = \"whole\"` \
                 keep asking. It leaves open:"
            }
            _ => "`sayso run` cannot hold anything here, so it runs nothing; what may only run held keeps asking.",
        };
        text.push_str(&format!("\n{said}\n"));
        if self.level() == "files" {
            for open in left_open(Level::Files) {
                text.push_str(&format!("  - {}\n", open.text()));
            }
        }
        if !self.advice.is_empty() {
            text.push_str("\nWhat you can do:\n");
            for advice in &self.advice {
                text.push_str(&format!("  - {}\n", visible(advice)));
            }
        }
        text
    }
}

fn hold(level: Level) -> Result<(), String> {
    let tried = || -> Result<bool, sayso_hold::Error> {
        let nowhere = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
        let mut launch = Launch::here(inner::nothing()?, inner::stage()?)?;
        launch.folder = "/".into();
        launch.streams = Some([nowhere()?, nowhere()?, nowhere()?]);
        Ok(sayso_hold::run_at(level, &Bounds::default(), &launch)?.status.exit_code() == 0)
    };
    match tried() {
        Ok(true) => Ok(()),
        Ok(false) => Err("the program inside failed".to_owned()),
        Err(sayso_hold::Error::Step { step, why }) => Err(format!("{}: {why}", step.text())),
        Err(error) => Err(error.to_string()),
    }
}

/// What decides whether a user may make namespaces and filters.
#[derive(Default)]
struct Facts {
    /// The system's own limit.
    most_namespaces: Option<u64>,
    /// Debian's switch.
    unprivileged: Option<u64>,
    /// Ubuntu's.
    apparmor: Option<u64>,
    container: bool,
    /// How the kernel calls itself: `6.8.0-45-generic`.
    kernel: String,
    /// Whether Landlock is switched on; `None`: that cannot be read.
    landlock: Option<bool>,
    /// This program.
    program: String,
}

/// Landlock as it is needed came with this.
const OLDEST: (u32, u32) = (6, 2);

impl Facts {
    fn here() -> Self {
        let text = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let number = |path: &str| text(path)?.parse().ok();
        let is_container = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
        Self {
            most_namespaces: number("/proc/sys/user/max_user_namespaces"),
            unprivileged: number("/proc/sys/kernel/unprivileged_userns_clone"),
            apparmor: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            container: is_container.iter().any(|path| Path::new(path).exists()),
            kernel: text("/proc/sys/kernel/osrelease").unwrap_or_default(),
            landlock: text("/sys/kernel/security/lsm").map(|list| list.split(',').any(|name| name == "landlock")),
            program: std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default(),
        }
    }

    fn version(&self) -> Option<(u32, u32)> {
        let mut numbers = self.kernel.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        let wsl = self.kernel.to_ascii_lowercase().contains("microsoft");
        let old = self.version().is_some_and(|version| version < OLDEST);
        if wsl && (old || self.most_namespaces.is_none()) {
            advice.push(
                "In WSL, use version 2 with a current kernel: wsl --update, then wsl --set-version DISTRIBUTION 2"
                    .to_owned(),
            );
        } else if old {
            let (major, minor) = OLDEST;
            advice.push(format!("This kernel is {}; use Linux {major}.{minor} or newer.", self.kernel));
        }
        if self.landlock == Some(false) && !old {
            advice
                .push("Landlock is switched off: add landlock to the kernel's lsm= parameter, and reboot.".to_owned());
        }
        if self.most_namespaces == Some(0) {
            advice.push("User namespaces are switched off: sudo sysctl -w user.max_user_namespaces=15000".to_owned());
        }
        if self.unprivileged == Some(0) {
            advice.push(
                "Only root may make user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1".to_owned(),
            );
        }
        if self.apparmor == Some(1) {
            advice.push(format!(
                "AppArmor restricts user namespaces. Allow them for Sayso: put `abi <abi/4.0>, include <tunables/global> \
                 profile sayso {} flags=(unconfined) {{ userns, }}` into /etc/apparmor.d/sayso, then sudo apparmor_parser -r \
                 /etc/apparmor.d/sayso. Or for every program: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
                self.program
            ));
        }
        if self.container {
            advice.push(
                "This is a container, whose filter refuses namespaces or mounts. Let the container be the boundary, or start it \
                 with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
                    .to_owned(),
            );
        }
        if advice.is_empty() {
            advice.push(
                "Something around this process refuses it, such as another sandbox: run `sayso doctor --hold` outside of it."
                    .to_owned(),
            );
        }
        advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(facts: Facts) -> String {
        facts.advice().join("\n")
    }

    #[test]
    fn what_is_switched_off_is_named_with_what_switches_it_on() {
        let facts = || Facts { kernel: "6.8.0-45-generic".to_owned(), landlock: Some(true), ..Facts::default() };
        for (facts, wanted) in [
            (Facts { most_namespaces: Some(0), ..facts() }, "user.max_user_namespaces"),
            (Facts { unprivileged: Some(0), ..facts() }, "unprivileged_userns_clone=1"),
            (Facts { apparmor: Some(1), program: "/opt/sayso".to_owned(), ..facts() }, "profile sayso /opt/sayso "),
            (Facts { container: true, ..facts() }, "--security-opt"),
            (Facts { landlock: Some(false), ..facts() }, "lsm="),
            (Facts { kernel: "5.15.0-1".to_owned(), ..facts() }, "use Linux 6.2 or newer"),
            (Facts { kernel: "4.4.0-19041-Microsoft".to_owned(), ..facts() }, "wsl --update"),
            (facts(), "another sandbox"),
        ] {
            let said = advice(facts);
            assert!(said.contains(wanted) && said.lines().count() == 1, "{wanted}: {said}");
        }
        let both = Facts { most_namespaces: Some(0), container: true, ..facts() };
        assert_eq!(both.advice().len(), 2);
    }
}
