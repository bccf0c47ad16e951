//! What patterns of the shell expand to.

use super::survey::below;
use super::{A_LINK, Found, Net, Passes, Tree, inside, latin, widened};
use crate::pattern::Glob;
use sayso_shell::{Kind, Stands, canonical};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// To go into a folder costs as much as to compare so many names.
const A_FOLDER: usize = 4;

/// What the first parts of a pattern lead to.
#[derive(Default)]
pub(super) struct Step {
    /// What may be gone on from: folders, and where links lead.
    folders: Vec<PathBuf>,
    /// All but what no pattern of the policy can be about.
    paths: Vec<PathBuf>,
    /// Links, and what is reached through links.
    led_away: Vec<PathBuf>,
}

impl Tree<'_> {
    /// The existing paths that `pattern` expands to in `base`, links and what is below them if that counts.
    pub(super) fn expand(&self, base: &Path, pattern: &[u8], below: bool) -> Option<Found> {
        let parts: Vec<&[u8]> = pattern.split(|b| *b == b'/').filter(|part| !part.is_empty()).collect();
        let deep = parts.iter().position(|part| part.windows(2).any(|two| two == b"**"));
        let (fixed, rest) = parts.split_at_checked(deep.unwrap_or(parts.len()))?;
        let step = self.led_to(base, fixed)?;
        let net = match rest {
            // A dot file counts too: what expands this may be a tool that does not leave them out.
            [b"**", last] if !below && !last.windows(2).any(|two| two == b"**") => Net::Named(vec![widened(last)]),
            _ => Net::All,
        };
        let mut all = Vec::new();
        if deep.is_some() || below {
            for path in &step.folders {
                if matches!(self.files.kind(path), Kind::Folder { .. }) {
                    all.push(self.all_below(path, Passes::Nothing, true)?);
                    self.linked(path, &mut all)?;
                }
            }
        }
        // `**` stands for no folder too, but then something follows that was looked at with the rest.
        let paths = if deep.is_some() { Vec::new() } else { step.paths.clone() };
        Some(Found { paths, led_away: step.led_away.clone(), below: all, follows: true, net })
    }

    /// What these parts lead to. Commands name many files with the same first parts (`src/*/*.ts src/*/*.css`): those are
    /// gone through once.
    fn led_to(&self, base: &Path, parts: &[&[u8]]) -> Option<Rc<Step>> {
        let Some((last, before)) = parts.split_last() else {
            let folders = vec![base.to_owned()];
            return Some(Rc::new(Step { paths: folders.clone(), folders, led_away: Vec::new() }));
        };
        let key = (base.to_owned(), parts.join(&b'/'));
        if let Some(known) = self.led.borrow().get(&key) {
            return known.clone();
        }
        let step = self.led_to(base, before).and_then(|before| self.step(base, &before, last)).map(Rc::new);
        self.led.borrow_mut().insert(key, step.clone());
        step
    }

    fn step(&self, base: &Path, before: &Step, part: &[u8]) -> Option<Step> {
        let (glob, dotted) = (widened(part), part.first() == Some(&b'.'));
        let mut step = Step::default();
        for folder in &before.folders {
            self.survey.compare(A_FOLDER)?;
            let record = self.survey.folder(folder)?;
            let elsewhere = below(folder, base).is_none();
            for item in record.items() {
                self.survey.compare(1)?;
                // Of most files nothing is asked.
                let asked = item.stands != Stands::File || item.notable || elsewhere;
                if !asked || !fits(&glob, dotted, item.name) {
                    continue;
                }
                let path = inside(folder, item.name);
                if item.stands == Stands::Link {
                    self.survey.compare(A_LINK)?;
                    let target = canonical(self.files, &path).path;
                    step.led_away.extend([target.clone(), path.clone()]);
                    step.paths.push(target.clone());
                    step.folders.push(target);
                } else if elsewhere {
                    step.led_away.push(path.clone());
                }
                if item.notable || item.stands == Stands::Link {
                    step.paths.push(path.clone());
                }
                if item.stands == Stands::Folder {
                    step.folders.push(path);
                }
            }
        }
        Some(step)
    }
}

/// A shell pattern against one name. A leading dot needs a literal one.
fn fits(glob: &Glob, dotted: bool, name: &[u8]) -> bool {
    (dotted || name.first() != Some(&b'.')) && (glob.is_any() || glob.matches(&latin(name)))
}
