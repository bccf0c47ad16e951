//! Clouds and what describes them.

pub(crate) mod aws;
pub(crate) mod terraform;

use super::{Code, View};
use crate::effect::{Carry, NamedBy, Verb};
use crate::word::Word;

/// For tools whose subcommands are many: it reads if the last of the leading words is a reading verb, and changes
/// something otherwise. Named by the leading words.
pub(crate) fn by_verb(view: &mut View<'_>, reading: &[&str]) {
    let mut words: Vec<(usize, String)> = Vec::new();
    for at in 1..view.inv.argv.len() {
        match view.word(at).and_then(Word::exact_str) {
            Some(word) if word.starts_with('-') => {
                if words.is_empty() && !reading.contains(&word) {
                    continue;
                }
                break;
            }
            Some(word) => words.push((at, word.to_owned())),
            None => break,
        }
    }
    view.out.words = words.iter().filter_map(|(at, _)| u16::try_from(*at).ok()).collect();
    let asks_for_help =
        view.inv.argv.iter().any(|word| matches!(word.exact(), Some(b"--help" | b"--version" | b"help")));
    // The verb is the first word that is one: a thing may be named `list`.
    let is = |word: &str, verb: &str| {
        word == verb || word.strip_prefix(verb).is_some_and(|rest| rest.starts_with('-')) && verb != "get"
    };
    let reads = words
        .iter()
        .find_map(|(_, word)| {
            let reads = reading.iter().any(|verb| is(word, verb));
            let changes = CHANGING.split(' ').any(|verb| is(word, verb));
            (reads || changes).then_some(reads && !changes)
        })
        .unwrap_or(false);
    if !asks_for_help && (!reads || words.is_empty()) {
        let names: Vec<String> = words.iter().take(3).map(|(_, word)| word.clone()).collect();
        let by = if names.is_empty() { NamedBy::Program } else { NamedBy::Words(names) };
        view.named(Code::ChangesService, by, 0);
    }
    local_files(view);
}

/// Verbs that change something, in any of these tools.
const CHANGING: &str = "accept activate add allocate allow annotate apply approve assign associate attach authorize backup bind bounce build call cancel change clear clone commit configure confirm connect \
    convert copy cordon cp create cut deactivate decrypt delete deny deploy deprovision destroy detach disable disassociate disconnect down download drain edit enable encrypt eval evict exec execute expire export \
    expose failover finalize fix flush force fork format generate grant halt import init insert install invalidate invoke join kill label launch leave link load lock login logout mark merge migrate mount move mv \
    patch pause perform ping prepare print-access-token print-identity-token promote provision publish pull purge push put read-session reboot rebuild recover recreate redeploy refresh regenerate register reject \
    release reload remove rename renew replace request reserve reset resize resolve restart restore resume retry revert revoke rm rollback rotate run save scale schedule scp seal send set sign snapshot ssh stage \
    start stop submit suspend swap switch sync tag taint terminate test transfer trigger truncate tunnel unassign uncordon undelete undeploy uninstall unlink unlock unpublish unregister unseal unset untag up update \
    upgrade upload use wipe write";

/// `file://x` and `@x` in arguments are files of this machine.
fn local_files(view: &mut View<'_>) {
    for at in 1..view.inv.argv.len() {
        let Some(word) = view.word(at).and_then(Word::exact_str) else { continue };
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        let file = value
            .strip_prefix("fileb://")
            .or_else(|| value.strip_prefix("file://"))
            .or_else(|| value.strip_prefix('@'));
        if let Some(file) = file {
            view.path_effect(Verb::Read, &Word::Exact(file.into()), at, false, Carry::Plain);
        }
    }
}
