//! The policy in force: all files that count, compiled together.

use super::repository::Repository;
use super::source::Found;
use super::trust::Standing;
use super::{last_good, own, programs, source, trust};
use crate::{Error, Places, reason};
use sayso_policy::text::Problem;
use sayso_policy::{Code, Layer, Policy, PolicyText, Reason, Verdict};
use std::path::{Path, PathBuf};

/// The preset for those who have no policy file yet.
const FIRST_PRESET: &str = "developer";

/// The policy in force.
#[derive(Debug)]
pub struct InForce {
    /// Compiled.
    pub policy: Policy,
    /// The files it is made of, in order.
    pub files: Vec<PolicyText>,
    /// What its owner should know: files refused, trust outdated.
    pub notices: Vec<Notice>,
    /// What no call gets below, because a file that may say so cannot be read.
    pub floor: Option<(Verdict, Reason)>,
}

/// Something about a policy file that its owner should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What.
    pub reason: Reason,
    /// What is wrong with the text, each with its place.
    pub problems: Vec<Problem>,
    /// The text that the problems are about.
    pub text: Option<PolicyText>,
}

impl InForce {
    /// Files named by the owner, and no others. Those of other systems are judged by as they are; what protects
    /// Sayso itself stays in force beside them, since calls run by what is said here.
    ///
    /// # Errors
    /// If one of them has an error.
    pub fn given(files: Vec<PolicyText>) -> Result<Self, Error> {
        let (own, foreign) = sayso_formats::part(&files)?;
        let policy = if own.is_empty() && !foreign.is_empty() {
            Policy::from_foreign(foreign).with_integrity()
        } else {
            Policy::compile(&own).map_err(Error::Policy)?.with_foreign(foreign)
        };
        Ok(Self::of(policy, files))
    }

    /// A policy that was put together by hand. The program that runs here is protected.
    #[must_use]
    pub fn of(policy: Policy, files: Vec<PolicyText>) -> Self {
        Self { policy: policy.protecting(own::protected_program()), files, notices: Vec::new(), floor: None }
    }

    /// As it is, for a process that guards: what is Sayso's here is protected, and so are the files that were given.
    #[must_use]
    pub fn guarding(mut self, places: &Places) -> Self {
        let mut protected = own::protected(places);
        for file in self.files.iter().filter(|file| file.layer == Layer::Given) {
            let name = sayso_formats::foreign_name(&file.name).map_or(file.name.as_str(), |(_, name)| name);
            let path = std::path::absolute(name).ok();
            protected.registration.extend(path.iter().filter_map(|path| path.canonicalize().ok()));
            protected.registration.extend(path);
        }
        self.policy = self.policy.protecting(protected);
        self
    }

    /// The files of this machine, this user and the project of this workspace. A broken file is not an error here:
    /// its last good version stays in force, and where there is none, everything is an Ask (Deny for the managed
    /// file) that says why.
    ///
    /// # Errors
    /// If what was trusted cannot be read.
    pub fn load(places: &Places, workspace: Option<&Path>) -> Result<Self, Error> {
        Self::load_beside(places, workspace, None)
    }

    /// The same, with what the project of another folder restricts: of the one that a call runs in, where its caller names
    /// a workspace elsewhere.
    pub(super) fn load_beside(places: &Places, workspace: Option<&Path>, beside: Option<&Path>) -> Result<Self, Error> {
        // INVARIANT: whatever is looked at from here on is looked at in `cache/inputs.rs` too, or a compiled copy would
        // outlive its change.
        let mut gathered = Gathered::default();
        for found in [source::managed(places), source::user(places)].into_iter().flatten() {
            gathered.add(places, found, Fallback::LastGood);
        }
        if let Some(workspace) = workspace {
            gathered.project(places, workspace)?;
        }
        for found in programs::found(places) {
            gathered.add(places, found, Fallback::LastGood);
        }
        if let Some(workspace) = workspace {
            gathered.programs_of_project(places, workspace)?;
        }
        if let Some(folder) = beside {
            gathered.beside(places, folder)?;
        }
        gathered.compile(places)
    }
}

/// A file that may count.
struct Candidate {
    path: PathBuf,
    text: PolicyText,
    fallback: Fallback,
}

/// What counts in place of a file that turns out to be broken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fallback {
    /// Its last good version; where there is none, nothing runs unasked.
    LastGood,
    /// Nothing runs unasked.
    Floor,
    /// Another version of it, which is in force anyway.
    InForce,
}

#[derive(Default)]
struct Gathered {
    files: Vec<Candidate>,
    notices: Vec<Notice>,
    floor: Option<(Verdict, Reason)>,
}

impl Gathered {
    /// The project's nearest file, and everything that was trusted between the workspace and the root.
    fn project(&mut self, places: &Places, workspace: &Path) -> Result<(), Error> {
        let repository = Repository::of(workspace);
        let found = source::project(&repository, workspace);
        let (mut as_trusted, mut trusted_once) = (false, false);
        for one in trust::trusted(places, &repository, workspace)? {
            let path = repository.root.join(&one.file);
            let now = source::project_file(&path);
            let same = now.as_ref().is_some_and(|now| now.text.as_deref() == Ok(one.text.as_str()));
            let nearest = found.as_ref().is_some_and(|found| found.path == path);
            as_trusted |= nearest && same;
            trusted_once |= nearest;
            let mut name = places.shown(&path);
            if !same {
                self.outdated(&name, now.is_some());
                name.push_str(" (as trusted)");
            }
            let text = PolicyText { layer: Layer::Project, name, text: one.text, trusted: true };
            self.files.push(Candidate { path, text, fallback: Fallback::Floor });
        }
        if let Some(found) = found.filter(|_| !as_trusted) {
            let fallback = if trusted_once { Fallback::InForce } else { Fallback::Floor };
            self.add(places, found, fallback);
        }
        Ok(())
    }

    /// What a project says of its own programs, as it was trusted.
    fn programs_of_project(&mut self, places: &Places, workspace: &Path) -> Result<(), Error> {
        let (standing, texts) = programs::of_project(places, &Repository::of(workspace), workspace)?;
        match standing {
            Standing::Changed(folder) => self.outdated(&places.shown(&folder), true),
            Standing::Gone(folder) => self.outdated(&places.shown(&folder), false),
            Standing::Untrusted(folder) => {
                let name = places.shown(&folder);
                let why = format!("{name} is not trusted, so its programs do not count. `sayso trust` trusts it.");
                self.notice(reason::UNTRUSTED, why, Vec::new(), None);
            }
            Standing::Nothing | Standing::Trusted(_) => {}
        }
        for text in texts {
            let path = PathBuf::from(&text.name);
            self.files.push(Candidate { path, text, fallback: Fallback::Floor });
        }
        Ok(())
    }

    /// What the project of this folder restricts, trusted or not.
    fn beside(&mut self, places: &Places, folder: &Path) -> Result<(), Error> {
        let mut of_folder = Self::default();
        of_folder.project(places, folder)?;
        for mut one in of_folder.files {
            let known = |file: &Candidate| file.path == one.path && file.text.text == one.text.text;
            if !self.files.iter().any(known) {
                one.text.trusted = false;
                self.files.push(one);
            }
        }
        if let Some((verdict, reason)) = of_folder.floor
            && self.floor.as_ref().is_none_or(|(least, _)| *least < verdict)
        {
            self.floor = Some((verdict, reason));
        }
        self.notices.extend(of_folder.notices);
        Ok(())
    }

    fn add(&mut self, places: &Places, found: Found, fallback: Fallback) {
        let name = places.shown(&found.path);
        match found.text {
            Ok(text) => {
                let trusted = found.layer != Layer::Project;
                if !trusted && fallback == Fallback::Floor {
                    let why = format!(
                        "{name} is not trusted: only its asks and denies apply. Run `sayso trust` to trust it."
                    );
                    self.notice(reason::UNTRUSTED, why, Vec::new(), None);
                }
                let text = PolicyText { layer: found.layer, name, text, trusted };
                self.files.push(Candidate { path: found.path, text, fallback });
            }
            Err(why) if found.lost => {
                let text = PolicyText { layer: found.layer, name, text: String::new(), trusted: true };
                self.lost(places, found.path, text, &why, fallback);
            }
            // Somebody else may have written it, and so may have chosen its last good version: that does not count.
            Err(why) => self.refuse(&found.layer, format!("{name} is refused: {why}."), fallback),
        }
    }

    fn compile(mut self, places: &Places) -> Result<InForce, Error> {
        let (files, policy) = match self.compiled() {
            Ok(done) => {
                for one in self.files.iter().filter(|c| c.fallback == Fallback::LastGood) {
                    // Without a copy the next slip costs more, but nothing is less safe: no reason to stop.
                    let _ = last_good::keep(places, &one.path, &one.text.text);
                }
                done
            }
            Err(_) => {
                for one in std::mem::take(&mut self.files) {
                    match Policy::compile(std::slice::from_ref(&one.text)) {
                        Ok(_) => self.files.push(one),
                        Err(problems) => self.replace(places, one, problems),
                    }
                }
                self.compiled().map_err(Error::Policy)?
            }
        };
        let policy = protecting(policy, places);
        Ok(InForce { policy, files, notices: self.notices, floor: self.floor })
    }

    /// What is gathered, compiled. Those who have no file of their own get the first preset: an untrusted file
    /// beside it may tighten, and must not take its place.
    fn compiled(&self) -> Result<(Vec<PolicyText>, Policy), Vec<Problem>> {
        let mut files: Vec<PolicyText> = self.files.iter().map(|c| c.text.clone()).collect();
        if !files.iter().any(|text| text.trusted && !text.teaches()) {
            files.insert(0, PolicyText::preset(FIRST_PRESET));
        }
        let policy = Policy::compile(&files)?;
        Ok((files, policy))
    }

    /// Puts its last good version in the place of a file that is gone from behind a link.
    fn lost(&mut self, places: &Places, path: PathBuf, text: PolicyText, why: &str, fallback: Fallback) {
        let next = "Restore the link's target, or remove the link if there should be no file";
        let name = text.name.clone();
        match last_version(places, &path, &text, fallback) {
            Some(last) => {
                let why = format!("{name} is missing: {why}. Its last good version is in force. {next}.");
                self.notice(reason::LAST_GOOD, why, Vec::new(), None);
                self.files.push(Candidate { path, text: last, fallback: Fallback::Floor });
            }
            None => self.refuse(&text.layer, format!("{name} is refused: {why}. {next}."), fallback),
        }
    }

    /// Puts something in the place of a broken file.
    fn replace(&mut self, places: &Places, broken: Candidate, problems: Vec<Problem>) {
        let Candidate { path, text, fallback } = broken;
        let name = text.name.clone();
        match last_version(places, &path, &text, fallback) {
            Some(last) => {
                let why = format!("{name} has errors; its last good version is in force.");
                self.notice(reason::LAST_GOOD, why, problems, Some(text));
                self.files.push(Candidate { path, text: last, fallback: Fallback::Floor });
            }
            None => {
                let why = format!("{name} has errors{}.", first(&problems));
                self.refuse(&text.layer, why.clone(), fallback);
                if let Some(notice) = self.notices.last_mut() {
                    (notice.problems, notice.text) = (problems, Some(text));
                }
            }
        }
    }

    fn refuse(&mut self, layer: &Layer, why: String, fallback: Fallback) {
        let least = if *layer == Layer::Managed { Verdict::Deny } else { Verdict::Ask };
        if fallback != Fallback::InForce && self.floor.as_ref().is_none_or(|(verdict, _)| *verdict < least) {
            self.floor = Some((least, reason::built_in(reason::POLICY_REFUSED, why.clone())));
        }
        self.notice(reason::POLICY_REFUSED, why, Vec::new(), None);
    }

    fn outdated(&mut self, name: &str, there: bool) {
        let change = if there { "has changed" } else { "has disappeared" };
        let why = format!(
            "{name} {change} since it was trusted; the trusted version stays in force. Run `sayso trust` to trust the new one."
        );
        self.notice(reason::TRUST_OUTDATED, why, Vec::new(), None);
    }

    fn notice(&mut self, code: Code, why: String, problems: Vec<Problem>, text: Option<PolicyText>) {
        self.notices.push(Notice { reason: reason::built_in(code, why), problems, text });
    }
}

/// Where the project of this folder says something of its own: the folder of its nearest file, or its root where something
/// was trusted that is gone.
///
/// # Errors
/// If what was trusted cannot be read.
pub fn project_of(places: &Places, folder: &Path) -> Result<Option<PathBuf>, Error> {
    let repository = Repository::of(folder);
    if let Some(found) = source::project(&repository, folder) {
        return Ok(found.path.parent().map(Path::to_owned));
    }
    let trusted = trust::trusted(places, &repository, folder)?;
    Ok((!trusted.is_empty()).then_some(repository.root))
}

/// A policy that knows what is Sayso's here.
pub(crate) fn protecting(policy: Policy, places: &Places) -> Policy {
    policy.protecting(own::protected(places))
}

/// The last good version of a file, where that may count and still compiles.
fn last_version(places: &Places, path: &Path, text: &PolicyText, fallback: Fallback) -> Option<PolicyText> {
    let last = (fallback == Fallback::LastGood).then(|| last_good::last(places, path)).flatten()?;
    let last = PolicyText { name: format!("{} (last good)", text.name), text: last, ..text.clone() };
    Policy::compile(std::slice::from_ref(&last)).is_ok().then_some(last)
}

fn first(problems: &[Problem]) -> String {
    let first = problems.iter().find(|p| !p.warning);
    first.map(|p| format!(" ({}: {})", p.source, p.message)).unwrap_or_default()
}
