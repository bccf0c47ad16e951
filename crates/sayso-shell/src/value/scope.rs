//! Variables, functions and aliases, with a journal so that branches and subshells can be undone and joined.
//!
//! Walking a branch costs what it changes, not what exists: a text with thousands of variables and thousands of
//! branches stays linear.

use super::Scalar;
use crate::certain::Items;
use crate::certain::value::Gone;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A name: of a variable, or of a function or an alias (see [`function_key`], [`alias_key`]).
pub(crate) type Name = Rc<[u8]>;

/// What a name means now.
#[derive(Clone, Debug)]
pub(crate) struct Entry<F> {
    pub(crate) held: Held<F>,
    /// `export`ed in this call, so that programs started later see it.
    pub(crate) exported: bool,
    /// Later assignments may fail, or store something else than what was written (`readonly`, `declare -i`, `-u`).
    pub(crate) odd: bool,
    /// Certainly `declare -A`: its subscripts are strings, and nothing evaluates them.
    pub(crate) map: bool,
    /// A string, but it may be the first element of an array that has others.
    pub(crate) others: bool,
}

/// What is held under a name.
#[derive(Clone, Debug)]
pub(crate) enum Held<F> {
    /// Certainly nothing.
    Unset(Gone),
    /// A string.
    Scalar(Scalar),
    /// An indexed array without gaps.
    Array(Items),
    /// It may be unset, a string or an array. `crafted`: see [`super::Shaped::crafted`].
    Unknown {
        /// Somebody may have chosen it.
        crafted: bool,
    },
    /// One of these functions or alias texts; with `maybe`, or none of them.
    Defined {
        /// The definitions.
        definitions: Rc<[F]>,
        /// It may be undefined.
        maybe: bool,
    },
}

impl<F> Entry<F> {
    pub(crate) fn new(held: Held<F>) -> Self {
        Self { held, exported: false, odd: false, map: false, others: false }
    }
}

/// Marks a point that [`Scope::undo`] and [`Scope::take`] go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

/// What a branch changed.
pub(crate) type Changes<F> = Vec<(Name, Option<Entry<F>>)>;

/// All names of the shell.
#[derive(Debug)]
pub(crate) struct Scope<F> {
    entries: BTreeMap<Name, Entry<F>>,
    journal: Vec<(Name, Option<Entry<F>>)>,
    open: usize,
}

impl<F: Clone + PartialEq> Scope<F> {
    pub(crate) fn new() -> Self {
        Self { entries: BTreeMap::new(), journal: Vec::new(), open: 0 }
    }

    pub(crate) fn get(&self, name: &[u8]) -> Option<&Entry<F>> {
        if self.entries.is_empty() { None } else { self.entries.get(name) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every name that was touched.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        self.entries.keys()
    }

    pub(crate) fn set(&mut self, name: &[u8], entry: Option<Entry<F>>) {
        let name: Name = match self.entries.get_key_value(name) {
            Some((known, _)) => known.clone(),
            None => name.into(),
        };
        let old = match entry {
            Some(entry) => self.entries.insert(name.clone(), entry),
            None => self.entries.remove(&name),
        };
        if self.open > 0 {
            self.journal.push((name, old));
        }
    }

    /// Opens a branch.
    pub(crate) fn mark(&mut self) -> Mark {
        self.open += 1;
        Mark(self.journal.len())
    }

    /// Closes a branch and undoes it: what a subshell does stays there.
    pub(crate) fn undo(&mut self, mark: Mark) {
        while self.journal.len() > mark.0 {
            if let Some((name, old)) = self.journal.pop() {
                match old {
                    Some(entry) => self.entries.insert(name, entry),
                    None => self.entries.remove(&name),
                };
            }
        }
        self.close();
    }

    /// Closes a branch, undoes it, and says what it had changed.
    pub(crate) fn take(&mut self, mark: Mark) -> Changes<F> {
        let mut names: Vec<Name> =
            self.journal.get(mark.0..).unwrap_or_default().iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        let changes = names.into_iter().map(|name| (name.clone(), self.entries.get(&name).cloned())).collect();
        self.undo(mark);
        changes
    }

    /// Lets any part of a branch have happened. Returns whether anything became less certain. `armed`: names that were
    /// at some time given what arithmetic would run.
    pub(crate) fn blur(&mut self, changes: Changes<F>, armed: &BTreeSet<Name>) -> bool {
        let mut blurred = false;
        for (name, entry) in changes {
            let old = self.entries.get(&name).cloned();
            let mut merged = merge(old.clone(), entry);
            if let Some(entry) = &mut merged
                && !matches!(entry.held, Held::Defined { .. })
            {
                entry.held = Held::Unknown { crafted: crafted(Some(&entry.held)) || armed.contains(&name) };
            }
            blurred |= !same(old.as_ref(), merged.as_ref());
            self.set(&name, merged);
        }
        blurred
    }

    fn close(&mut self) {
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.journal.clear();
        }
    }

    /// Lets one of several branches have happened; `certain`: exactly one of them, else perhaps none.
    /// Returns whether anything became less certain than it was.
    pub(crate) fn join(&mut self, mut branches: Vec<Changes<F>>, certain: bool) -> bool {
        if certain
            && branches.len() == 1
            && let Some(only) = branches.pop()
        {
            for (name, entry) in only {
                self.set(&name, entry);
            }
            return false;
        }
        let mut names: Vec<Name> = branches.iter().flatten().map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        let mut blurred = false;
        for name in names {
            let base = self.entries.get(&name).cloned();
            let mut merged: Option<Option<Entry<F>>> = (!certain).then(|| base.clone());
            for branch in &branches {
                let value = match branch.binary_search_by(|(known, _)| known.cmp(&name)) {
                    Ok(at) => branch.get(at).and_then(|(_, entry)| entry.clone()),
                    Err(_) => base.clone(),
                };
                merged = Some(match merged {
                    None => value,
                    Some(so_far) => merge(so_far, value),
                });
            }
            if let Some(entry) = merged {
                blurred |= !same(base.as_ref(), entry.as_ref());
                self.set(&name, entry);
            }
        }
        blurred
    }
}

fn same<F: PartialEq>(one: Option<&Entry<F>>, two: Option<&Entry<F>>) -> bool {
    match (one, two) {
        (None, None) => true,
        (Some(one), Some(two)) => {
            (one.exported, one.odd, one.map, one.others) == (two.exported, two.odd, two.map, two.others)
                && same_held(&one.held, &two.held)
        }
        _ => false,
    }
}

fn same_held<F: PartialEq>(one: &Held<F>, two: &Held<F>) -> bool {
    match (one, two) {
        (Held::Unset(one), Held::Unset(two)) => one == two,
        (Held::Scalar(one), Held::Scalar(two)) => one == two,
        (Held::Array(one), Held::Array(two)) => one == two,
        (Held::Unknown { crafted: one }, Held::Unknown { crafted: two }) => one == two,
        (Held::Defined { definitions: one, maybe: a }, Held::Defined { definitions: two, maybe: b }) => {
            a == b && one == two
        }
        _ => false,
    }
}

/// What holds of either. `None` is a name that this call has not touched: its value comes from the environment.
fn merge<F: Clone + PartialEq>(one: Option<Entry<F>>, two: Option<Entry<F>>) -> Option<Entry<F>> {
    if same(one.as_ref(), two.as_ref()) {
        return one;
    }
    let odd = one.as_ref().is_some_and(|e| e.odd) || two.as_ref().is_some_and(|e| e.odd);
    let others = one.as_ref().is_some_and(|e| e.others) || two.as_ref().is_some_and(|e| e.others);
    let map = one.as_ref().is_some_and(|e| e.map) && two.as_ref().is_some_and(|e| e.map);
    let (first, second) = (one.as_ref().is_some_and(|e| e.exported), two.as_ref().is_some_and(|e| e.exported));
    let function = [&one, &two].iter().any(|e| matches!(e, Some(Entry { held: Held::Defined { .. }, .. })));
    // A new shell knows a variable that is certainly exported, and may know a function that may be.
    let exported = if function { first || second } else { first && second };
    let differs = first != second;
    let held = match (one.map(|e| e.held), two.map(|e| e.held)) {
        (Some(Held::Defined { definitions: a, maybe: x }), Some(Held::Defined { definitions: b, maybe: y })) => {
            let mut all: Vec<F> = a.to_vec();
            all.extend(b.iter().filter(|definition| !a.contains(definition)).cloned());
            Held::Defined { definitions: all.into(), maybe: x || y || differs }
        }
        (Some(Held::Defined { definitions, .. }), _) | (_, Some(Held::Defined { definitions, .. })) => {
            Held::Defined { definitions, maybe: true }
        }
        (Some(Held::Scalar(a)), Some(Held::Scalar(b))) => Held::Scalar(a.merge(&b)),
        (a, b) => Held::Unknown { crafted: crafted(a.as_ref()) || crafted(b.as_ref()) },
    };
    Some(Entry { held, exported, odd, map, others })
}

/// Whether arithmetic on it may run something.
pub(crate) fn crafted<F>(held: Option<&Held<F>>) -> bool {
    match held {
        Some(Held::Scalar(scalar)) => scalar.may_run_in_arithmetic(),
        Some(Held::Array(items)) => items.iter().any(Scalar::may_run_in_arithmetic),
        Some(Held::Unknown { crafted }) => *crafted,
        _ => false,
    }
}

/// The key under which a function is held: no variable's name begins so.
pub(crate) fn function_key(name: &[u8]) -> Vec<u8> {
    [b"\0f", name].concat()
}

/// Whether a name is the key of an alias.
pub(crate) fn is_alias_key(name: &[u8]) -> bool {
    name.starts_with(b"\0a")
}

/// The key under which an alias is held.
pub(crate) fn alias_key(name: &[u8]) -> Vec<u8> {
    [b"\0a", name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certain::value::Known;

    fn exact(scope: &Scope<u8>, name: &str) -> Option<String> {
        match &scope.get(name.as_bytes())?.held {
            Held::Scalar(scalar) => Some(String::from_utf8_lossy(scalar.bytes()?).into_owned()),
            _ => None,
        }
    }

    fn set(scope: &mut Scope<u8>, name: &str, value: &str) {
        let held = Held::Scalar(Scalar::exact(value.as_bytes(), Known::Written));
        scope.set(name.as_bytes(), Some(Entry::new(held)));
    }

    #[test]
    fn a_subshell_leaves_nothing_behind() {
        let mut scope = Scope::new();
        set(&mut scope, "x", "1");
        let mark = scope.mark();
        set(&mut scope, "x", "2");
        set(&mut scope, "y", "2");
        scope.undo(mark);
        assert_eq!(exact(&scope, "x").as_deref(), Some("1"));
        assert!(scope.get(b"y").is_none());
    }

    #[test]
    fn branches_that_agree_stay_certain_and_others_do_not() {
        let mut scope = Scope::new();
        set(&mut scope, "x", "0");
        let mark = scope.mark();
        set(&mut scope, "x", "1");
        set(&mut scope, "y", "1");
        let one = scope.take(mark);
        let mark = scope.mark();
        set(&mut scope, "x", "1");
        set(&mut scope, "y", "2x");
        let two = scope.take(mark);
        scope.join(vec![one, two], true);
        assert_eq!(exact(&scope, "x").as_deref(), Some("1"));
        assert_eq!(exact(&scope, "y"), None);
    }

    #[test]
    fn a_branch_that_may_not_happen_blurs_what_it_sets() {
        let mut scope = Scope::new();
        set(&mut scope, "x", "0x");
        let mark = scope.mark();
        set(&mut scope, "x", "1");
        let one = scope.take(mark);
        assert!(scope.join(vec![one], false));
        assert_eq!(exact(&scope, "x"), None);
    }
}
