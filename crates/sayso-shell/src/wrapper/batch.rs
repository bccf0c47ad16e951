//! Wrappers that start a command for each name, line, change or interval.

use super::user::shell_behind;
use super::{Launch, interactive, launch, unknown_words};
use crate::Dialect;
use crate::effect::{NamedBy, Span};
use crate::option::{Style, options};
use crate::program::{Code, Prints, Spec, Start, View};
use crate::word::{Origin, Part, Shape, Single, Text, Word};

const LEADING: Style = Style::GNU.and(Style::LEADING);

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["xargs", "gxargs"])
        .style(LEADING)
        .options(&[options!("
            -0 --null, -d --delimiter D, -E EOF, -e --eof [EOF], -I R, -i --replace [R], -J R, -L N, -l --max-lines [N], -n --max-args N
            -o --open-tty, -P --max-procs N, -p --interactive, --process-slot-var NAME, -r --no-run-if-empty, -R N, -S N, -s --max-chars N
            --show-limits, -t --verbose, -x --exit
            -a --arg-file FILE : reads
        ")])
        .judge(xargs),
    Spec::new(&["parallel", "sem"])
        .style(LEADING)
        .options(&[options!("
            -0 --null, -j --jobs -P --max-procs N, -k --keep-order, -n --max-args N, -N --max-replace-args N, -I R, --bar, --progress, --eta, -v --verbose, -t
            --dry-run --dryrun, --halt --halt-on-error V, -X --xargs, -m, -u --ungroup, --group, --line-buffer --lb, --tag, --tagstring S, --timeout N, --delay N
            --retries N, -d --delimiter D, -C --colsep R, --header H, --pipe, --block N, --will-cite, --no-notice, --load N, --memfree N, --nice N, -q --quote, -r
            --no-run-if-empty, --shuf, --plain, --link, --linebuffer, --id ID, --fg, --wait
            -a --arg-file FILE : reads
            --joblog FILE : writes
            --results DIR, --tmpdir DIR, --tempdir DIR, --compress-program C, --files : writes-below
            -S --sshlogin HOST, --slf --sshloginfile F, --onall, --nonall, --trc F, --transferfile F, --return F, --cleanup, --workdir DIR : runs-elsewhere
            --profile -J NAME, --env VAR, --env_parallel, --semaphore, --rpl S, --use-cpus-instead-of-cores : runs-command
        ")])
        .judge(parallel),
    Spec::new(&["watch"])
        .style(LEADING)
        .options(&[options!("
            -b --beep, -c --color, -C --no-color, -d --differences [P], -e --errexit, -g --chgexit, -n --interval N, -p --precise, -q --equexit N, -r --no-rerun
            -s --screenshotsdir DIR, -t --no-title, -w --no-wrap, -x --exec, -h, -v
        ")])
        .judge(watch),
    Spec::new(&["flock"])
        .style(LEADING)
        .options(&[options!("
            -s --shared, -x -e --exclusive, -n --nb --nonblock, -w --wait --timeout N, -u --unlock, -o --close, -E --conflict-exit-code N, -F --no-fork, --verbose, -h, -V
            -c --command TEXT : shell
        ")])
        .judge(flock),
    Spec::new(&["script"])
        .style(Style::GNU)
        .options(&[options!("
            -a --append, -E --echo WHEN, -e --return, -f --flush, -F, --force, -o --output-limit N, -q --quiet, -m --logging-format F, -h, -V, -k, -r, -p, -d, -t [FILE]
            -I --log-in FILE, -O --log-out FILE, -B --log-io FILE, -T --log-timing FILE : makes
            --timing [FILE] : writes
            -c --command TEXT : shell
        ")])
        .judge(script),
    Spec::new(&["entr"])
        .style(LEADING)
        .options(&[options!("-a, -c, -d, -n, -p, -r, -s, -x, -z")])
        .judge(entr),
    Spec::new(&["watchexec"])
        .style(LEADING)
        .options(&[options!("
            -e --exts E, -f --filter P, -i --ignore P, -w --watch PATH, -r --restart, -c --clear [M], -d --debounce N, --no-vcs-ignore, -p --postpone, -n, -1
            --stop-signal S, -q --quiet, --color W, -N --notify, --project-origin DIR, --poll [N], --no-meta, -o --on-busy-update M
            --shell S : runs
        ")])
        .judge(shell_text),
    Spec::new(&["nodemon"])
        .style(LEADING)
        .options(&[options!("
            -e --ext E, -w --watch PATH, -i --ignore P, -V --verbose, -q --quiet, -d --delay N, -L --legacy-watch, -C --on-change-only, -I --no-stdin, --signal S, --cwd DIR
            -x --exec CMD : shell
            --config FILE : reads
        ")])
        .judge(nodemon),
    Spec::new(&["expect"])
        .style(LEADING)
        .options(&[options!("
            -d, -D N, -i, -n, -N, -v, -b
            -c CMD : inline
            -f FILE : reads
        ")])
        .judge(expect),
    Spec::new(&["run-parts"])
        .style(Style::GNU)
        .options(&[options!("
            --test, --list, -v --verbose, --report, --reverse, --exit-on-error, --new-session, --stdin, --lsbsysinit, --regex R, -u --umask N, -a --arg A
        ")])
        .judge(run_parts),
];

/// What standard input gives as words: exact ones where they are certain.
fn words_of_stdin(view: &View<'_>) -> Vec<Word> {
    let from_file = view.has("--arg-file");
    if view.value("--arg-file").and_then(Word::exact) == Some(b"/dev/null") {
        return Vec::new();
    }
    let plain = |byte: &u8| !matches!(byte, b'\'' | b'"' | b'\\' | 0);
    match &view.inv.stdin_prints {
        Prints::Exact(text)
            if !from_file && text.as_bytes().iter().all(plain) && !view.has_any(&["--null", "--delimiter", "-E"]) =>
        {
            text.as_bytes()
                .split(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
                .filter(|word| !word.is_empty())
                .map(|word| Word::Exact(Text::from(word)))
                .collect()
        }
        Prints::Names(folder) if !from_file && !cuts_names(view) => {
            vec![unknown_words(Origin::Listing(Box::new(folder.clone())))]
        }
        Prints::Number if !from_file => vec![unknown_words(Origin::Number)],
        _ => vec![unknown_words(Origin::Unknown)],
    }
}

/// Whether names are taken apart where they do not end: `zR.envRz` holds another name for `-d R`.
fn cuts_names(view: &View<'_>) -> bool {
    let whole = |word: &Word| matches!(word.exact(), Some(b"\n" | b"\\n" | b"\0" | b"\\0"));
    view.values("--delimiter").iter().any(|(_, sign)| !whole(sign)) || view.has("--colsep")
}

fn xargs(view: &mut View<'_>) {
    if view.has("--process-slot-var") {
        view.named_by_flag(Code::Environment, "--process-slot-var", 0);
    }
    let replace = ["-I", "--replace", "-J"].iter().find(|name| view.has(name)).map(|name| view.value(name).cloned());
    let given = words_of_stdin(view);
    let from = view.operand_at(0).unwrap_or(view.inv.argv.len());
    let mut argv: Vec<Word> = view.inv.argv.get(from..).unwrap_or_default().to_vec();
    let mut spans: Vec<Span> = (from..view.inv.argv.len()).map(|at| view.span(at)).collect();
    if argv.is_empty() {
        argv.push(Word::Exact("echo".into()));
        spans.push(view.span(0));
    }
    match replace {
        Some(marker) => {
            let marker =
                marker.as_ref().map_or(Some(b"{}".as_slice()), Word::exact).filter(|marker| !marker.is_empty());
            let origin = origin_of(&given);
            for word in &mut argv {
                *word = match (marker, word.exact()) {
                    (Some(marker), Some(text)) => with_holes(text, marker, &origin),
                    // A marker nobody knows may stand anywhere.
                    _ => Word::Opaque,
                };
            }
        }
        None => {
            // Few at a time: which run gets which words is open.
            let few = view.has_any(&["--max-args", "--max-lines", "-L", "--max-chars"]);
            let given = if few && given.len() > 1 { vec![unknown_words(Origin::Unknown)] } else { given };
            spans.resize(argv.len() + given.len(), view.span(0));
            argv.extend(given);
        }
    }
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    view.out.transparent = true;
}

fn origin_of(given: &[Word]) -> Origin {
    match given {
        [Word::Dynamic(shape)] => shape.origin.clone(),
        _ => Origin::Unknown,
    }
}

/// `text` with a hole wherever `marker` stands.
pub(crate) fn with_holes(text: &[u8], marker: &[u8], origin: &Origin) -> Word {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(marker) {
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal).into()));
            }
            parts.push(Part::Hole);
            rest = behind;
        } else {
            literal.push(first);
            rest = tail;
        }
    }
    if parts.is_empty() {
        return Word::Exact(text.into());
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal.into()));
    }
    Word::Dynamic(Shape::single(parts, origin.clone(), Single::Handed))
}

/// The words before `:::` are one text for a shell, with `{}` for an argument that parallel quotes.
fn parallel(view: &mut View<'_>) {
    let from = view.operand_at(0).unwrap_or(view.inv.argv.len());
    let words = view.inv.argv.get(from..).unwrap_or_default();
    let separator = words.iter().position(|word| word.exact().is_some_and(|word| word.starts_with(b":::")));
    let command = words.get(..separator.unwrap_or(words.len())).unwrap_or_default();
    let span = view.span(from);
    let mut argv = Vec::new();
    let mut holes = false;
    for word in command {
        let safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./-=,:@%+{} ".contains(byte);
        match word.exact().filter(|text| text.iter().all(safe)) {
            Some(text) => {
                for piece in text.split(|&byte| byte == b' ').filter(|piece| !piece.is_empty()) {
                    let hole = piece.contains(&b'{');
                    holes |= hole;
                    // `{.}`, `{/}`, `{1}` and the like: parts of an argument.
                    argv.push(if hole { unknown_piece(piece) } else { Word::Exact(piece.into()) });
                }
            }
            None => {
                view.out.starts.push(Start::Shell {
                    text: Word::Opaque,
                    span,
                    dialect: Dialect::Other,
                    elsewhere: false,
                    parameters: Vec::new(),
                });
                return;
            }
        }
    }
    if argv.is_empty() {
        // Every line of standard input, or every argument, is a command.
        view.out.starts.push(Start::Shell {
            text: Word::Opaque,
            span,
            dialect: Dialect::Other,
            elsewhere: false,
            parameters: Vec::new(),
        });
        return;
    }
    if !holes {
        let given = if separator.is_some() { vec![unknown_words(Origin::Unknown)] } else { words_of_stdin(view) };
        argv.extend(given);
    }
    let spans = vec![span; argv.len()];
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    view.out.transparent = true;
}

fn unknown_piece(piece: &[u8]) -> Word {
    let literal: Vec<u8> = piece.iter().copied().take_while(|&byte| byte != b'{').collect();
    let mut parts = Vec::new();
    if !literal.is_empty() {
        parts.push(Part::Literal(literal.into()));
    }
    parts.push(Part::Hole);
    Word::Dynamic(Shape::single(parts, Origin::Unknown, Single::Handed))
}

fn watch(view: &mut View<'_>) {
    if view.has("--screenshotsdir") {
        view.named_by_flag(Code::WritesFile, "--screenshotsdir", 0);
    }
    if view.has("--exec") {
        if let Some(at) = view.operand_at(0) {
            view.out.transparent = launch(view, at, Launch::default());
        }
    } else {
        shell_text(view);
    }
}

fn shell_text(view: &mut View<'_>) {
    view.out.transparent = shell_behind(view, 0, false);
}

fn flock(view: &mut View<'_>) {
    let Some((at, lock)) = view.operand_at(0).and_then(|at| Some((at, view.word(at)?))) else { return };
    let descriptor = lock.exact().is_some_and(|word| word.iter().all(u8::is_ascii_digit));
    if !descriptor {
        view.writes(lock, at);
    }
    match view.operand_at(1) {
        Some(command) if matches!(view.word(command).and_then(Word::exact), Some(b"-c" | b"--command")) => {
            let text = view.word(command + 1).cloned().unwrap_or(Word::Opaque);
            view.starts_shell(text, command + 1);
        }
        Some(command) => {
            launch(view, command, Launch::default());
        }
        None => {}
    }
    view.out.transparent = !view.out.starts.is_empty();
}

fn script(view: &mut View<'_>) {
    match (view.operand_at(0), view.operand(0)) {
        (Some(at), Some(file)) => view.writes(file, at),
        _ if view.has_any(&["--log-out", "--log-io", "--log-in"]) => {}
        _ => view.touches(crate::Verb::Write, "typescript", false),
    }
    // BSD: a command stands behind the file.
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch::default());
    } else if !view.has("--command") {
        interactive(view, "sh", 0);
    }
}

fn entr(view: &mut View<'_>) {
    if view.has("-s") {
        if let (Some(at), Some(text)) = (view.operand_at(0), view.operand(0)) {
            view.starts_shell(text.clone(), at);
            view.out.transparent = true;
        }
    } else if let Some(at) = view.operand_at(0) {
        view.out.transparent = launch(view, at, Launch::default());
    }
}

/// `nodemon app.js` runs node; with `--exec`, that program is given the file.
fn nodemon(view: &mut View<'_>) {
    let from = view.operand_at(0);
    if view.has("--exec") {
        if let (Some(at), Some(file)) = (from, view.operand(0)) {
            view.reads(file, at);
            view.code("unknown", Code::RunsCode, NamedBy::Flag("--exec".to_owned()), at);
        }
        return;
    }
    let mut argv = vec![Word::Exact("node".into())];
    match from {
        Some(at) => argv.extend_from_slice(view.inv.argv.get(at..).unwrap_or_default()),
        None => argv.push(Word::Exact(".".into())),
    }
    let spans = vec![view.span(from.unwrap_or(0)); argv.len()];
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}

fn expect(view: &mut View<'_>) {
    if view.has("-c") && view.operand_at(0).is_none() {
        return;
    }
    if let (Some(at), Some(file)) = (view.operand_at(0), view.operand(0)) {
        view.reads(file, at);
    }
    view.code("tcl", Code::RunsCode, NamedBy::Program, 0);
}

fn run_parts(view: &mut View<'_>) {
    if view.has_any(&["--test", "--list"]) {
        return;
    }
    if let (Some(at), Some(folder)) = (view.operand_at(0), view.operand(0)) {
        view.reads_below(folder, at);
    }
    view.code("unknown", Code::RunsCode, NamedBy::Program, 0);
}
