//! ssh: a command on another host, and on this one if an option says so.

use crate::Dialect;
use crate::effect::{Carry, NamedBy, Verb};
use crate::option::{Reader, Step, Style, Tables};
use crate::program::wrapper::{interactive, joined};
use crate::program::{Code, Prints, Spec, Start, View, read_again};
use crate::word::Word;

static IN_ORDER: Spec = Spec::new(&["ssh"])
    .style(Style::EXACT.and(Style::LEADING))
    .options(&[crate::program::built::SSH_OPTIONS])
    .judge(ssh);

/// ssh takes options behind the host too: `ssh host -oProxyCommand=evil` runs it here. They are put before the host.
pub(crate) fn ssh_words(view: &mut View<'_>) {
    let (Some(host), Some(next)) = (view.operand_at(0), view.operand_at(1)) else { return ssh(view) };
    if !view.word(next).is_some_and(Word::may_be_option) {
        return ssh(view);
    }
    let inv = view.inv;
    let tables = Tables { near: IN_ORDER.options, far: &[], root: &[] };
    let mut reader = Reader::new(inv.argv, inv.spans);
    reader.skip_to(host + 1);
    let command = loop {
        match reader.step(tables, IN_ORDER.style) {
            Step::Options => {}
            Step::Operand(at) => break at,
            Step::Done => break inv.argv.len(),
        }
    };
    let placed = |from: usize, to: usize| (from..to).filter_map(|at| Some((at, view.word(at)?.clone())));
    // A `--` before the host ends nothing for what stands behind it.
    let before = placed(0, host).filter(|(_, word)| word.exact() != Some(b"--"));
    let behind = placed(host + 1, command).filter(|(_, word)| word.exact() != Some(b"--"));
    let mut words: Vec<_> = before.chain(behind).collect();
    words.push((host, Word::Exact("--".into())));
    words.extend(placed(host, host + 1));
    words.extend(placed(command, inv.argv.len()));
    let open = reader.open;
    read_again(view, &IN_ORDER, words);
    if open {
        view.named(Code::DynamicOption, NamedBy::Nothing, next);
        view.doubt(
            Code::DynamicOption,
            "a word of unknown value behind the host may be an option of ssh".to_owned(),
            next,
        );
    }
}

fn ssh(view: &mut View<'_>) {
    settings(view);
    if view.has_any(&["-V", "-Q"]) {
        return;
    }
    let Some((at, host)) = view.operand_at(0).and_then(|at| Some((at, view.word(at)?))) else { return };
    if view.has("-G") {
        return;
    }
    view.connects(host, at);
    if let Some(from) = view.operand_at(1) {
        remote_text(view, joined(view, from).unwrap_or(Word::Opaque), from);
        return;
    }
    if view.has_any(&["-N", "-O"]) {
        return;
    }
    match (&view.inv.stdin_prints, view.inv.stdin_text) {
        (_, Some(text)) => remote_text(view, Word::Exact(text.into()), at),
        (Prints::Exact(text), None) => remote_text(view, Word::Exact(text.clone()), at),
        _ => interactive(view, "sh", at),
    }
}

fn remote_text(view: &mut View<'_>, text: Word, at: usize) {
    let span = view.span(at);
    view.out.starts.push(Start::Shell { text, span, dialect: Dialect::Other, elsewhere: true, parameters: Vec::new() });
}

/// `-F` and `-o`, which ssh, scp and sftp share. A configuration file may run commands.
pub(super) fn settings(view: &mut View<'_>) {
    for (at, file) in view.values("-F") {
        if !matches!(file.exact(), Some(b"none" | b"/dev/null")) {
            view.reads(&file, at);
            view.named_by_flag(Code::UnclearScript, "-F", at);
        }
    }
    for (at, setting) in view.values("-o") {
        let Some(text) = setting.exact_str() else {
            let known = known_name_of_dynamic(&setting);
            if !known {
                view.named_by_flag(Code::DynamicOption, "-o", at);
            }
            continue;
        };
        let text = text.trim();
        let cut = text.find(|letter: char| letter == '=' || letter.is_ascii_whitespace()).unwrap_or(text.len());
        let (name, value) = text.split_at_checked(cut).unwrap_or((text, ""));
        let value = value.trim_start_matches(|letter: char| letter == '=' || letter.is_ascii_whitespace());
        setting_effect(view, &name.to_ascii_lowercase(), value, at);
    }
}

fn known_name_of_dynamic(setting: &Word) -> bool {
    let Word::Dynamic(shape) = setting else { return false };
    let Some(crate::word::Part::Literal(text)) = shape.parts.first() else { return false };
    let Some((name, _)) = text.as_str().and_then(|text| text.split_once('=')) else { return false };
    is_harmless(&name.to_ascii_lowercase())
}

fn is_harmless(name: &str) -> bool {
    const HARMLESS: &str = "addkeystoagent addressfamily batchmode bindaddress bindinterface canonicaldomains canonicalizefallbacklocal canonicalizehostname \
        canonicalizemaxdots casignaturealgorithms channeltimeout checkhostip ciphers clearallforwardings compression connectionattempts connecttimeout controlmaster \
        controlpersist enableescapecommandline enablesshkeysign escapechar exitonforwardfailure fingerprinthash forkafterauthentication forwardagent forwardx11 \
        forwardx11timeout forwardx11trusted gatewayports globalknownhostsfile gssapiauthentication gssapidelegatecredentials hashknownhosts hostbasedacceptedalgorithms \
        hostbasedauthentication hostkeyalgorithms hostkeyalias identitiesonly ignoreunknown ipqos kbdinteractiveauthentication kbdinteractivedevices kexalgorithms \
        loglevel logverbose macs nohostauthenticationforlocalhost numberofpasswordprompts obscurekeystroketiming passwordauthentication permitlocalcommand port \
        preferredauthentications proxyusefdpass pubkeyacceptedalgorithms pubkeyacceptedkeytypes pubkeyauthentication rekeylimit requesttty requiredrsasize \
        revokedhostkeys sendenv serveralivecountmax serveraliveinterval sessiontype setenv stdinnull streamlocalbindmask streamlocalbindunlink stricthostkeychecking \
        syslogfacility tag tcpkeepalive tunnel tunneldevice updatehostkeys user verifyhostkeydns visualhostkey challengeresponseauthentication rsaauthentication protocol";
    HARMLESS.split(' ').any(|known| known == name)
}

fn setting_effect(view: &mut View<'_>, name: &str, value: &str, at: usize) {
    let word = Word::Exact(value.into());
    match name {
        "proxycommand" | "localcommand" | "knownhostscommand" => {
            if value.eq_ignore_ascii_case("none") {
                return;
            }
            view.named_by_flag(Code::RunsCommand, "-o", at);
            // ssh puts `exec` before it, which makes sense of `;sh`.
            let word = if value.trim_start().starts_with(';') {
                Word::Exact(format!("exec {value}").as_str().into())
            } else {
                word
            };
            // `%h` and its like stand for parts of the destination.
            view.starts_shell(if value.contains('%') { Word::Opaque } else { word }, at);
        }
        "remotecommand" => remote_text(view, word, at),
        "hostname" | "proxyjump" => {
            for host in value.split(',').filter(|host| !host.eq_ignore_ascii_case("none")) {
                view.connects(&Word::Exact(host.into()), at);
            }
        }
        "identityfile" | "certificatefile" => view.reads(&word, at),
        "userknownhostsfile" => {
            if !matches!(value, "/dev/null" | "none") {
                view.path_effect(
                    Verb::Write,
                    &word,
                    at,
                    false,
                    Carry::Named { code: Code::WritesFile, by: NamedBy::Flag("-o".to_owned()) },
                );
            }
        }
        "dynamicforward" | "localforward" | "remoteforward" => view.named_by_flag(Code::Serves, "-o", at),
        "pkcs11provider" | "securitykeyprovider" | "xauthlocation" => view.named_by_flag(Code::RunsCommand, "-o", at),
        "controlpath" | "identityagent" => {}
        name if is_harmless(name) => {}
        _ => {
            view.named_by_flag(Code::UnknownOption, "-o", at);
            view.doubt(Code::UnknownOption, format!("ssh has no setting {name} that is known here"), at);
        }
    }
}

pub(crate) fn mosh(view: &mut View<'_>) {
    if let (Some(at), Some(host)) = (view.operand_at(0), view.operand(0)) {
        view.connects(host, at);
        match view.operand_at(1) {
            Some(from) => remote_text(view, joined(view, from).unwrap_or(Word::Opaque), from),
            None => interactive(view, "sh", at),
        }
    }
}

/// With `-l`, `-y` and the like it reads; otherwise it makes a key.
pub(crate) fn keygen(view: &mut View<'_>) {
    let reads = view.has_any(&["-l", "-B", "-F", "-e", "-i", "-y", "-L", "-r"]);
    for (at, file) in view.values("-f") {
        if reads {
            view.reads(&file, at);
        } else {
            view.writes(&file, at);
            if let Some(name) = file.exact() {
                let public: Vec<u8> = name.iter().chain(b".pub").copied().collect();
                view.writes(&Word::Exact(public.into()), at);
            }
        }
    }
    if !reads && !view.has("-f") {
        view.path_effect(Verb::Write, &crate::script::unknown(), 0, false, Carry::Plain);
    }
}
