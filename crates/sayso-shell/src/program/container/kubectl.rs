//! kubectl and its like.

use super::template::{self, Fields};
use crate::effect::NamedBy;
use crate::program::wrapper::{Launch, launch};
use crate::program::{Code, View};
use crate::word::Word;

/// Secrets of a cluster are secrets.
pub(crate) fn secrets(view: &mut View<'_>) {
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

/// Where the environment of a pod stands, or other data that nobody declared harmless.
const ENVIRONMENT: Fields = Fields {
    shown: &["env", "envfrom", "data", "binarydata", "stringdata"],
    whole: &[
        "items",
        "spec",
        "template",
        "jobtemplate",
        "containers",
        "initcontainers",
        "ephemeralcontainers",
        "annotations",
        "metadata",
        "kubectl.kubernetes.io/last-applied-configuration",
        "last-applied-configuration",
    ],
};

/// Kinds that hold no containers and no data, by their names and short names.
const WITHOUT: &str = " no node nodes ns namespace namespaces svc service services ing ingress ingresses ep endpoints endpointslice \
    endpointslices pv persistentvolume persistentvolumes pvc persistentvolumeclaim persistentvolumeclaims sc storageclass \
    storageclasses ev event events crd crds customresourcedefinition customresourcedefinitions role roles rolebinding \
    rolebindings clusterrole clusterroles clusterrolebinding clusterrolebindings sa serviceaccount serviceaccounts hpa \
    horizontalpodautoscaler horizontalpodautoscalers pdb poddisruptionbudget poddisruptionbudgets netpol networkpolicy \
    networkpolicies quota resourcequota resourcequotas limits limitrange limitranges pc priorityclass priorityclasses lease \
    leases apiservice apiservices ingressclass ingressclasses ";

/// An object as it is holds the environment of its containers: `-o yaml` and the like, and templates that go there.
pub(crate) fn shown(view: &mut View<'_>) {
    let history = view.path.last() == Some(&"history");
    if !history
        && view.path.last() != Some(&"get")
        && view.path.last() != Some(&"cluster-info")
        && view.path.last() != Some(&"dump")
    {
        return;
    }
    let kind = |kind: &str| {
        // With a dot it names its group, and `services.serving.knative.dev` is none of these.
        let name = kind.split('/').next().unwrap_or_default().to_ascii_lowercase();
        !name.is_empty() && WITHOUT.contains(&format!(" {name} "))
    };
    // `TYPE NAME..` or `TYPE/NAME..`.
    let kinds: Vec<&str> =
        view.operands().into_iter().filter_map(|at| view.word(at).and_then(Word::exact_str)).collect();
    let harmless = match kinds.as_slice() {
        [] => false,
        [first, ..] if !first.contains('/') => first.split(',').all(kind),
        several => several.iter().all(|one| one.contains('/') && kind(one)),
    };
    let all = view.operand_count() == kinds.len();
    let raw = view.values("--raw").pop();
    if harmless && all && !history && raw.is_none() {
        return;
    }
    let template = view.value("--template").cloned();
    let formats = view.values("--output");
    let mut at = formats.iter().find(|(_, format)| !is_narrow(format, template.as_ref())).map(|(at, _)| *at);
    if let (true, Some(word)) = (formats.is_empty(), &template) {
        at = word.exact_str().is_none_or(|text| template::go(text, &ENVIRONMENT)).then_some(0);
    }
    if view.path.last() == Some(&"dump") {
        at = Some(0);
    }
    // One revision is shown with its containers, and what stands at a path of the API may be anything.
    let revision = if history { view.values("--revision").pop() } else { None };
    if let Some((of, _)) = raw.or(revision) {
        at = Some(of);
    }
    if let Some(at) = at {
        view.imply("--shows-environment", Some(Code::ShowsSecrets), at);
    }
}

/// Whether an output format shows a few fields alone.
fn is_narrow(format: &Word, template: Option<&Word>) -> bool {
    let Some(text) = format.exact_str() else { return false };
    let (kind, spec) = match text.split_once('=') {
        Some((kind, spec)) => (kind, Some(spec)),
        None => (text, template.and_then(Word::exact_str)),
    };
    match (kind, spec) {
        ("name" | "wide" | "", _) => true,
        ("custom-columns", Some(spec)) => !template::columns(spec, &ENVIRONMENT),
        ("jsonpath" | "jsonpath-as-json", Some(spec)) => !template::json_path(spec, &ENVIRONMENT),
        ("go-template" | "template", Some(spec)) => !template::go(spec, &ENVIRONMENT),
        _ => false,
    }
}

/// A user in a file of settings may be a program that is asked for credentials: kubectl's, and helm's.
pub(crate) fn config(view: &mut View<'_>) {
    if let Some((at, _)) = view.values("--kubeconfig").pop() {
        view.named_by_flag(Code::RunsCode, "--kubeconfig", at);
    }
}

/// Files that options name in their own ways.
pub(crate) fn files(view: &mut View<'_>) {
    shown(view);
    config(view);
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

pub(crate) fn exec(view: &mut View<'_>) {
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

pub(crate) fn run(view: &mut View<'_>) {
    let by = view.by_words();
    view.code("unknown", Code::RunsCode, by, 0);
    if let Some(end) = view.terminator {
        launch(view, end + 1, Launch { elsewhere: true, ..Launch::default() });
    }
}

pub(crate) fn copies(view: &mut View<'_>) {
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
