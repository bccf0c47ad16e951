//! What policy files say, as a list of single statements that can be compared.

use super::section;
use crate::compile::Compiler;
use crate::policy::{Policy, PolicyText};
use crate::presets;
use crate::set::SetKind;
use crate::text::{self, ExampleValue, File, Text, When};
use crate::word::{Layer, Verdict};
use sayso_shell::Verb;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// One pattern of one rule, sets and alternatives resolved.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) verdict: Verdict,
    pub(super) verb: Verb,
    pub(super) pattern: String,
    /// The `!` patterns of its list, in order.
    pub(super) except: Vec<String>,
    pub(super) when: Option<When>,
    /// The conditions as the file has them.
    when_text: String,
    pub(super) examples: Vec<ExampleValue>,
    /// Which file, whether a preset's, whether trusted.
    place: String,
    always: bool,
    /// A hold answers it.
    pub(super) held: bool,
}

/// What tells one entry from another.
type Key = (String, Verdict, Verb, String, Vec<String>, String, bool, bool);

impl Entry {
    fn key(&self) -> Key {
        (
            self.place.clone(),
            self.verdict,
            self.verb,
            self.pattern.clone(),
            self.except.clone(),
            self.when_text.clone(),
            self.always,
            self.held,
        )
    }

    /// Whether both are about the same, whatever they say and except.
    fn same_subject(&self, other: &Self) -> bool {
        self.place == other.place
            && self.verb == other.verb
            && self.pattern == other.pattern
            && self.when_text == other.when_text
    }

    fn excepts_at_least(&self, other: &Self) -> bool {
        other.except.iter().all(|it| self.except.contains(it))
    }
}

/// Everything that files say.
#[derive(Debug, Default)]
pub(super) struct Statements {
    pub(super) entries: Vec<Entry>,
    /// The other sections, each as text.
    sections: BTreeMap<String, String>,
}

/// The statements that are in one policy and not in the other.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) gone: Vec<Entry>,
    pub(super) new: Vec<Entry>,
    /// Sections beside rules that differ, by name.
    pub(super) sections: Vec<String>,
    /// Of those, the ones that only tighten.
    pub(super) tightened: Vec<String>,
}

impl Changed {
    pub(super) fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.new.is_empty() && self.sections.is_empty()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.gone.iter().chain(&self.new)
    }

    /// The statements by which a call could come to be judged milder. None: that is a proof that no call is.
    ///
    /// An allow that goes, an ask or a deny that comes, an exception more of an allow and one less of a restriction only
    /// tighten, whatever else the files say: stages take the strictest opinion, and an allow that is gone leaves at most
    /// what another allow says. Where a file says nothing any more, its presets say what they said before or less.
    pub(super) fn may_loosen(&self) -> impl Iterator<Item = &Entry> {
        let new_allows = self.new.iter().filter(|it| it.verdict == Verdict::Allow && !self.narrows(it));
        let gone_restrictions = self.gone.iter().filter(|it| it.verdict != Verdict::Allow && !self.is_kept(it));
        new_allows.chain(gone_restrictions)
    }

    /// Whether sections changed in a way that could loosen.
    pub(super) fn sections_may_loosen(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(String::as_str).filter(|it| !self.tightened.iter().any(|known| known == it))
    }

    /// An allow that takes the place of a wider one.
    fn narrows(&self, new: &Entry) -> bool {
        let wider = |it: &&Entry| it.verdict == Verdict::Allow && it.same_subject(new) && new.excepts_at_least(it);
        self.gone.iter().any(|it| wider(&it))
    }

    /// A restriction whose place another one takes that is as wide and as strict.
    fn is_kept(&self, gone: &Entry) -> bool {
        let as_strict = |it: &Entry| {
            it.verdict >= gone.verdict
                && it.held <= gone.held
                && it.always >= gone.always
                && it.same_subject(gone)
                && gone.excepts_at_least(it)
        };
        self.new.iter().any(as_strict)
    }
}

/// What changed from one policy to another.
pub(super) fn changed(old: (&Policy, &[PolicyText]), new: (&Policy, &[PolicyText])) -> (Changed, [Statements; 2]) {
    let (before, after) = (read(old.0, old.1), read(new.0, new.1));
    // How often a statement is repeated means nothing.
    let of_old: HashSet<Key> = before.entries.iter().map(Entry::key).collect();
    let of_new: HashSet<Key> = after.entries.iter().map(Entry::key).collect();
    let mut changed = Changed {
        gone: before.entries.iter().filter(|it| !of_new.contains(&it.key())).cloned().collect(),
        new: after.entries.iter().filter(|it| !of_old.contains(&it.key())).cloned().collect(),
        ..Changed::default()
    };
    let mut names: Vec<&String> = before.sections.keys().chain(after.sections.keys()).collect();
    names.sort_unstable();
    names.dedup();
    changed.sections =
        names.into_iter().filter(|name| before.sections.get(*name) != after.sections.get(*name)).cloned().collect();
    let stricter_default = || defaults(old.0).iter().zip(defaults(new.0)).all(|(old, new)| *old <= new);
    let tightens = |name: &&String| match name.as_str() {
        "default" => stricter_default(),
        name => section::only_tightens(name, old, new),
    };
    changed.tightened = changed.sections.iter().filter(tightens).cloned().collect();
    (changed, [before, after])
}

/// What each verb gets where nothing speaks.
fn defaults(policy: &Policy) -> Vec<Verdict> {
    let of = |verb: &Verb| policy.files.iter().filter_map(|file| file.defaults.get(*verb)).max();
    Verb::ALL.iter().map(|verb| of(verb).unwrap_or(Verdict::Ask)).collect()
}

fn read(policy: &Policy, texts: &[PolicyText]) -> Statements {
    let mut found = Statements::default();
    found.sections.insert("default".to_owned(), format!("{:?}", defaults(policy)));
    for text in texts {
        let place = format!("{} {}", text.layer, text.trusted);
        if text.teaches() {
            add(&mut found.sections, "programs", &text.text);
            continue;
        }
        let Ok(file) = text::parse(&text.name, &text.text) else { continue };
        let of_roles = file.roles.iter().flat_map(|role| role.extends.iter().map(|it| (it, "for")));
        let named = file.extends.iter().map(|it| (it, "extends")).chain(file.enforce.iter().map(|it| (it, "enforce")));
        for name in named.chain(of_roles) {
            let Some(preset) = presets::text(&name.0.value) else { continue };
            let Ok(parsed) = text::parse(&name.0.value, preset) else { continue };
            let layer = Layer::Preset(Cow::Owned(name.0.value.clone()));
            // Which preset says it does not matter, as long as one does.
            let of_preset = format!("{place} {}", name.1);
            let off = |code: &str| name.1 != "enforce" && file.disable.iter().any(|it| it.value == code);
            entries(&parsed, preset, policy, &layer, &of_preset, &off, &mut found.entries);
        }
        entries(&file, &text.text, policy, &text.layer, &place, &|_| false, &mut found.entries);
        sections(&text.text, &mut found.sections);
    }
    for file in &policy.foreign {
        add(&mut found.sections, "files of other systems", &file.text);
    }
    found
}

fn add(sections: &mut BTreeMap<String, String>, name: &str, text: &str) {
    let section = sections.entry(name.to_owned()).or_default();
    section.push_str(text);
    section.push('\n');
}

/// What is compared as rules, or says nothing about verdicts.
const NOT_SECTIONS: &[&str] =
    &["extends", "enforce", "disable", "default", "allow", "ask", "deny", "rule", "set", "test", "approvals"];

fn sections(text: &str, found: &mut BTreeMap<String, String>) {
    let Ok(table) = text.parse::<toml::Table>() else { return };
    for (name, value) in &table {
        if !NOT_SECTIONS.contains(&name.as_str()) {
            add(found, name, &value.to_string());
            // A layer of tools names sets.
            if let Some(sets) = table.get("set") {
                add(found, name, &sets.to_string());
            }
        }
    }
}

fn entries(
    file: &File,
    text: &str,
    policy: &Policy,
    layer: &Layer,
    place: &str,
    off: &dyn Fn(&str) -> bool,
    found: &mut Vec<Entry>,
) {
    let mut problems = Vec::new();
    let mut compiler = Compiler::new(file, layer.clone(), &policy.programs, &mut problems);
    let mut expand = |texts: &[Text], verb: Verb, excepted: bool| -> Vec<(String, String)> {
        let mut all = Vec::new();
        for it in texts.iter().filter(|it| it.value.starts_with('!') == excepted) {
            let bare = it.value.strip_prefix('!').unwrap_or(&it.value).trim_start();
            let each = compiler.expand(bare, &it.span, SetKind::of(verb));
            all.extend(each.into_iter().map(|pattern| (pattern, it.value.clone())));
        }
        all
    };
    for list in &file.lists {
        let verb = list.verb.value;
        let except: Vec<String> = expand(&list.patterns, verb, true).into_iter().map(|(it, _)| it).collect();
        for (pattern, written) in expand(&list.patterns, verb, false) {
            if off(&crate::compile::slug(&written)) {
                continue;
            }
            found.push(Entry {
                verdict: list.verdict,
                verb,
                pattern,
                except: except.clone(),
                when: None,
                when_text: String::new(),
                examples: Vec::new(),
                place: place.to_owned(),
                always: false,
                held: false,
            });
        }
    }
    for rule in &file.rules {
        let verb = rule.verb.value;
        let except: Vec<String> = expand(&rule.patterns, verb, true).into_iter().map(|(it, _)| it).collect();
        let when_text = rule.when.as_ref().and_then(|when| text.get(when.span.clone())).unwrap_or_default();
        let when_text: String = when_text.chars().filter(|c| !c.is_whitespace()).collect();
        for (pattern, written) in expand(&rule.patterns, verb, false) {
            let code = rule.id.as_ref().map_or_else(|| crate::compile::slug(&written), |id| id.value.clone());
            if off(&code) {
                continue;
            }
            found.push(Entry {
                verdict: rule.verdict.value,
                verb,
                pattern,
                except: except.clone(),
                when: rule.when.clone(),
                when_text: when_text.clone(),
                examples: rule.hits.iter().chain(&rule.misses).map(|example| example.value.clone()).collect(),
                place: place.to_owned(),
                always: rule.always,
                held: rule.held.is_some(),
            });
        }
    }
}
