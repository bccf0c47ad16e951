//! Looking at the network: names, routes, interfaces, sockets.

use crate::effect::NamedBy;
use crate::program::{Code, View};
use crate::word::Word;

/// `dig @server name type +short`.
pub(crate) fn dig(view: &mut View<'_>) {
    let mut server = false;
    let mut at = 1;
    while let Some(word) = view.word(at) {
        match word.exact() {
            Some([b'@', host @ ..]) => {
                server = true;
                view.connects(&Word::Exact(host.into()), at);
            }
            Some(b"-f" | b"-k") => {
                if let Some(file) = view.word(at + 1) {
                    view.reads(file, at + 1);
                }
                at += 1;
            }
            Some(b"-b" | b"-c" | b"-p" | b"-q" | b"-t" | b"-x" | b"-y") => at += 1,
            Some([b'-' | b'+', ..]) => {}
            Some(_) => view.out.words.push(u16::try_from(at).unwrap_or(u16::MAX)),
            None => {
                // A name may carry data out: the query itself goes to a server.
                view.out.words.push(u16::try_from(at).unwrap_or(u16::MAX));
                view.connects(&Word::Opaque, at);
            }
        }
        at += 1;
    }
    if !server {
        view.connects_configured("name server", 0);
    }
}

/// The second operand is a server to ask.
pub(crate) fn name_servers(view: &mut View<'_>) {
    if let (Some(at), Some(server)) = (view.operand_at(1), view.operand(1)) {
        view.connects(server, at);
    }
}

/// `ip [options] object [command]`: without a command, or with `show`, it reads.
pub(crate) fn ip(view: &mut View<'_>) {
    let mut words: Vec<usize> = Vec::new();
    let mut changes = None;
    let mut at = 1;
    while let Some(word) = view.word(at) {
        let Some([b'-', option @ ..]) = word.exact() else {
            words.push(at);
            at += 1;
            continue;
        };
        // Any beginning of a name will do, behind one dash or two.
        let option = option.strip_prefix(b"-").unwrap_or(option);
        let begins = |name: &[u8]| !option.is_empty() && name.starts_with(option);
        if begins(b"batch") || option.len() > 1 && begins(b"force") {
            changes = Some(("-batch", at));
        } else if begins(b"netns") {
            changes = Some(("-netns", at));
        }
        let takes_value = begins(b"family") || begins(b"loops") || option.len() > 1 && begins(b"rcvbuf");
        at += if takes_value { 2 } else { 1 };
    }
    view.out.words = words.iter().filter_map(|&at| u16::try_from(at).ok()).collect();
    if let Some((flag, at)) = changes {
        view.named_by_flag(Code::ChangesSystem, flag, at);
        return;
    }
    let command = words.get(1).and_then(|&at| view.word(at));
    match (words.first().and_then(|&at| view.word(at)).and_then(Word::exact_str), command.map(Word::exact_str)) {
        (Some("netns"), Some(Some("exec"))) => {
            if let Some(&at) = words.get(3) {
                crate::program::wrapper::launch(view, at, crate::program::wrapper::Launch::default());
            }
            view.named(Code::ChangesSystem, NamedBy::Words(vec!["netns".to_owned(), "exec".to_owned()]), 0);
        }
        (_, None) => {}
        // `ip link s` is `ip link set`.
        (Some(object), Some(Some("s"))) if "link".starts_with(object) => {
            view.named(Code::ChangesSystem, NamedBy::Words(vec!["link".to_owned(), "set".to_owned()]), 0);
        }
        (Some(_), Some(Some(command)))
            if ["show", "list", "ls", "get", "help", "monitor"]
                .iter()
                .any(|known| !command.is_empty() && known.starts_with(command)) => {}
        (Some(object), Some(Some(command))) => {
            view.named(Code::ChangesSystem, NamedBy::Words(vec![object.to_owned(), command.to_owned()]), 0)
        }
        _ => view.named(Code::ChangesSystem, NamedBy::Nothing, 0),
    }
}

/// With more than the name of an interface they change it.
pub(crate) fn interface(view: &mut View<'_>) {
    let operands: Vec<usize> = (1..view.inv.argv.len())
        .filter(|&at| !matches!(view.word(at).and_then(Word::exact), Some([b'-', ..])))
        .collect();
    view.out.words = operands.iter().filter_map(|&at| u16::try_from(at).ok()).collect();
    let flags = view.inv.argv.iter().skip(1).filter_map(Word::exact).filter(|word| word.starts_with(b"-"));
    let harmless_flags = flags.into_iter().all(|flag| {
        matches!(flag, b"-a" | b"-n" | b"-v" | b"-s" | b"-e" | b"-h" | b"-ee" | b"-i" | b"-k" | b"-S" | b"-l" | b"-g")
    });
    let shows = operands
        .iter()
        .any(|&at| matches!(view.word(at).and_then(Word::exact), Some(b"show" | b"list" | b"get" | b"help")));
    if !shows
        && (operands.len() > 1
            || !harmless_flags
            || operands.iter().any(|&at| view.word(at).is_some_and(|word| word.exact().is_none())))
    {
        // Not by the program's name: whoever allows that allows to look.
        view.imply("--set", Some(Code::ChangesSystem), 0);
    }
}

pub(crate) fn probes(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.connects(word, at);
        }
    }
}

pub(crate) fn firewall(view: &mut View<'_>) {
    let lists = view.inv.argv.iter().skip(1).filter_map(Word::exact).any(|word| {
        matches!(
            word,
            b"-L"
                | b"--list"
                | b"-S"
                | b"--list-rules"
                | b"list"
                | b"status"
                | b"--list-all"
                | b"--state"
                | b"show"
                | b"-sr"
                | b"-s"
        )
    });
    let changes = view.inv.argv.iter().skip(1).any(|word| {
        word.exact().is_none_or(|word| {
            matches!(
                word,
                b"-A"
                    | b"-D"
                    | b"-I"
                    | b"-F"
                    | b"-X"
                    | b"-P"
                    | b"-Z"
                    | b"-N"
                    | b"-R"
                    | b"add"
                    | b"delete"
                    | b"flush"
                    | b"enable"
                    | b"disable"
                    | b"-f"
            )
        })
    });
    if changes || !lists {
        view.named(Code::ChangesSystem, NamedBy::Program, 0);
    }
}
