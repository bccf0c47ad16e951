//! kubectl and its like.

use crate::effect::NamedBy;
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Spec, View};
use crate::word::Word;
use crate::wrapper::{Launch, launch};

const EXACT: Style = Style::EXACT.and(Style::EQUALS).and(Style::GLOBAL);
const READS: &[Act] = &[Act::Connects("cluster")];
const CHANGES: &[Act] = &[Act::Connects("cluster"), Act::Named(Code::ChangesService)];

pub(super) const SPECS: &[Spec] = &[Spec::new(&["kubectl", "oc", "k", "microk8s.kubectl"]).style(EXACT).options(&[GLOBAL]).always(files).subs(&[
    // `-f` is a file here, and `--follow` of logs below.
    Spec::new(&["get", "describe", "wait"]).style(EXACT).options(&[FILES, READ]).acts(READS).judge(secrets),
    Spec::new(&[
        "logs", "log", "top", "explain", "api-resources", "api-versions", "version", "events", "options",
        "completion",
    ])
        .style(EXACT)
        .options(&[READ, FILES])
        .acts(READS)
        .judge(secrets),
    Spec::new(&["cluster-info"]).style(EXACT).options(&[READ]).acts(READS).subs(&[Spec::new(&["dump"]).style(EXACT).options(&[READ, options!("--output-directory DIR : writes-below
        --pod-running-timeout T")]).acts(READS)]),
    Spec::new(&["diff"]).style(EXACT).options(&[READ, FILES, options!("--server-side, --force-conflicts, --field-manager M, --prune, --show-managed-fields, --concurrency N")]).acts(READS),
    Spec::new(&["auth"]).style(EXACT).subs(&[
        Spec::new(&["can-i", "whoami"]).style(EXACT).options(&[READ]).acts(READS),
        Spec::new(&["reconcile"]).style(EXACT).options(&[FILES]).acts(CHANGES),
    ]),
    Spec::new(&["config"]).style(EXACT).subs(&[
        Spec::new(&["view"]).style(EXACT).options(&[options!("--flatten, --minify, --merge
            --raw : shows-secrets"), READ]),
        Spec::new(&["get-contexts", "get-clusters", "get-users", "current-context"]).style(EXACT).options(&[READ]),
        Spec::new(&[
            "set", "set-cluster", "set-context", "set-credentials", "unset", "use-context", "use", "delete-cluster",
            "delete-context", "delete-user", "rename-context",
        ])
            .style(EXACT.and(Style::HARMLESS))
            .acts(&[Act::Named(Code::ChangesSettings)]),
    ]),
    Spec::new(&["rollout"]).style(EXACT).subs(&[
        Spec::new(&["status", "history"]).style(EXACT).options(&[READ, FILES, options!("--revision N")]).acts(READS),
        Spec::new(&["restart", "undo", "pause", "resume"]).style(EXACT).options(&[READ, FILES, options!("--to-revision N, --dry-run [W], --field-manager M")]).acts(CHANGES),
    ]),
    Spec::new(&["exec"])
        .style(EXACT)
        .options(&[GLOBAL, options!("-c --container C, -i --stdin, -t --tty, -q --quiet, --pod-running-timeout T, -it
            -f --filename FILE : reads")])
        .acts(READS)
        .judge(exec),
    Spec::new(&["run"]).style(EXACT).options(&[FILES, options!("
        --image I, --rm, -i --stdin, -t --tty, -it, --restart P, --command, --port N, -e --env E, -l --labels L, --overrides J, --dry-run [W], -o --output F, --expose, --attach, -q --quiet
        --image-pull-policy P, --annotations A, --privileged, --leave-stdin-open, --pod-running-timeout T
    ")]).acts(CHANGES).judge(run),
    Spec::new(&["cp"]).style(EXACT).options(&[options!("-c --container C, --no-preserve, --retries N")]).acts(CHANGES).judge(copies),
    Spec::new(&[
        "apply", "create", "delete", "replace", "patch", "edit", "scale", "label", "annotate", "drain", "cordon",
        "uncordon", "taint", "set", "expose", "autoscale", "attach", "debug", "certificate", "kustomize", "convert",
        "alpha", "adm", "new-app", "start-build", "project", "login", "rsh",
    ])
        .style(EXACT)
        .options(&[CHANGE, FILES, READ])
        .acts(CHANGES),
    Spec::new(&["port-forward", "proxy"])
        .style(EXACT.and(Style::HARMLESS))
        .acts(&[Act::Connects("cluster"), Act::Named(Code::Serves)]),
    Spec::new(&["plugin", "krew"]).style(EXACT.and(Style::HARMLESS)).acts(&[Act::Named(Code::RunsCode)]),
])];

const GLOBAL: &Table = options!("
    -n --namespace NS, --context C, --cluster C, --user U, -v --v N, --as U, --as-group G, --as-uid U, --request-timeout T, --insecure-skip-tls-verify, --match-server-version, --warnings-as-errors
    --tls-server-name N, --log-flush-frequency T, --disable-compression, --token T, --username U, --password P
    --kubeconfig FILE, --certificate-authority FILE, --client-certificate FILE, --client-key FILE : reads
    -s --server HOST : redirects
    --cache-dir DIR, --profile-output FILE, --profile NAME : writes
");
const READ: &Table = options!("
    -A --all-namespaces, -l --selector S, -o --output F, -w --watch, --watch-only, --field-selector S, --show-labels, --no-headers, --sort-by F, -L --label-columns L, --chunk-size N
    --ignore-not-found, --show-kind, --show-managed-fields, --template T, --raw PATH, --subresource S, --allow-missing-template-keys, --output-watch-events, --server-print, --use-openapi-print-columns
    --show-events, -c --container C, -f --follow, -p --previous, --tail N, --since T, --since-time T, --timestamps, --all-containers, --prefix, --max-log-requests N, --limit-bytes N, --ignore-errors
    --containers, --no-headers, --api-group G, --namespaced, --verbs V, --cached, --categories C, --recursive, --api-version V, --client, --short, --for C, --timeout T, --all, --types T, --list, --quiet, -q
    --pod-running-timeout T, --all-pods, --insecure-skip-tls-verify-backend
");
const FILES: &Table = options!(
    "
    -f --filename FILE, -k --kustomize DIR : reads
    -R --recursive
"
);
const CHANGE: &Table = options!("
    --all, --cascade [C], --dry-run [W], --field-manager M, --force, --force-conflicts, --grace-period N, --openapi-patch, --overwrite, --prune, --prune-allowlist R, --server-side, --timeout T, --validate [V]
    --wait, --now, -i --interactive, --replicas N, --current-replicas N, --resource-version V, --record, --save-config, --image I, --port N, --target-port N, --type T, --name N, --cluster-ip A
    --external-ip A, --min N, --max N, --cpu-percent N, --patch P, -p P, --patch-file FILE, --from-literal L, --delete-emptydir-data, --ignore-daemonsets, --disable-eviction, --pod-selector S
    --skip-wait-for-delete-timeout N, --resources R, --limits L, --requests R, --serviceaccount S, --verb V, --resource R, --clusterrole R, --role R, --user U, --group G, --from F, --schedule S
    --docker-server H, --docker-username U, --docker-password P, --docker-email E, --edit, --windows-line-endings, --local, --containers C, -e --env E, -c --container C, -it, -t --tty, --stdin
    --from-file FILE, --from-env-file FILE, --cert FILE, --key FILE : reads
");

/// Secrets of a cluster are secrets.
fn secrets(view: &mut View<'_>) {
    // `secrets.v1` and `secrets.v1.` are secrets too.
    let kind = |kind: &str| matches!(kind.split('.').next(), Some(name) if name.eq_ignore_ascii_case("secret") || name.eq_ignore_ascii_case("secrets"));
    let asks = view
        .operands()
        .into_iter()
        .any(|at| view.word(at).and_then(Word::exact_str).is_some_and(|word| word.split([',', '/']).any(kind)));
    let unknown = view.operand(0).is_some_and(|word| word.exact().is_none());
    // A path of the cluster's API may be that of its secrets.
    let raw = view
        .value("--raw")
        .is_some_and(|path| path.exact_str().is_none_or(|path| path.contains('%') || path.split(['/', '?']).any(kind)));
    // What a file or folder lists may be secrets, and they are shown as the cluster has them.
    let listed =
        matches!(view.path.last(), Some(&("get" | "describe"))) && view.has_any(&["--filename", "--kustomize"]);
    if asks || unknown || raw || listed {
        let mut words: Vec<String> = view.path.iter().map(|&word| word.to_owned()).collect();
        words.push("secrets".to_owned());
        view.named(Code::ShowsSecrets, NamedBy::Words(words), 0);
    }
}

/// Files that options name in their own ways.
fn files(view: &mut View<'_>) {
    // A user in it may be a program that is asked for credentials.
    if let Some((at, _)) = view.values("--kubeconfig").pop() {
        view.named_by_flag(Code::RunsCode, "--kubeconfig", at);
    }
    template_file(view);
    for (at, format) in view.values("--output") {
        let Some((kind, file)) = format.exact_str().and_then(|text| text.split_once('=')) else { continue };
        if kind.ends_with("-file") || kind == "templatefile" {
            view.reads(&Word::Exact(file.into()), at);
        }
    }
    for name in ["--filename", "--kustomize"] {
        for (at, value) in view.values(name) {
            if value.exact_str().is_none_or(|text| text.contains("://") || text.contains("github.com/")) {
                view.named_by_flag(Code::OtherHost, name, at);
            }
        }
    }
}

/// `-o go-template-file --template=FILE`: the kind by one option, the file by another.
fn template_file(view: &mut View<'_>) {
    let kinds = view.values("--output");
    let is_text = |kind: &Word| {
        kind.exact_str().is_some_and(|kind| {
            let name = kind.split('=').next().unwrap_or_default().trim();
            !name.is_empty() && !name.ends_with("file")
        })
    };
    if kinds.is_empty() || kinds.iter().all(|(_, kind)| is_text(kind)) {
        return;
    }
    for (at, template) in view.values("--template") {
        view.reads(&template, at);
    }
}

fn exec(view: &mut View<'_>) {
    let by = view.by_words();
    view.named(Code::Remote, by, 0);
    // `exec pod -- command`; older ones leave out the dashes.
    let at = match view.terminator {
        Some(end) => Some(end + 1),
        None => {
            view.operand_at(1).map(|at| if view.word(at).and_then(Word::exact) == Some(b"--") { at + 1 } else { at })
        }
    };
    if let Some(at) = at {
        launch(view, at, Launch { elsewhere: true, ..Launch::default() });
    }
}

fn run(view: &mut View<'_>) {
    let by = view.by_words();
    view.code("unknown", Code::RunsCode, by, 0);
    if let Some(end) = view.terminator {
        launch(view, end + 1, Launch { elsewhere: true, ..Launch::default() });
    }
}

fn copies(view: &mut View<'_>) {
    for (n, verb) in [(0, crate::Verb::Read), (1, crate::Verb::Write)] {
        if let (Some(at), Some(word)) = (view.operand_at(n), view.operand(n)) {
            let inside = word
                .exact()
                .is_some_and(|text| text.contains(&b':') && !text.starts_with(b"/") && !text.starts_with(b"."));
            if !inside {
                view.path_effect(verb, word, at, true, crate::effect::Carry::Plain);
            }
        }
    }
}
