//! helm and its like.

use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Operands, Role, Spec};

const EXACT: Style = Style::EXACT.and(Style::EQUALS).and(Style::GLOBAL);
const CHANGES: &[Act] = &[Act::Connects("cluster"), Act::Named(Code::ChangesService)];

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["helm"]).style(EXACT).options(&[GLOBAL]).subs(&[
        Spec::new(&[
            "list", "ls", "status", "history", "get", "test",
        ]).style(EXACT).options(&[READ]).acts(&[Act::Connects("cluster")]),
        Spec::new(&["version", "env", "help", "completion"]).style(EXACT).options(&[READ]),
        Spec::new(&["show", "inspect", "search"]).style(EXACT).options(&[READ, CHART]).acts(&[Act::Connects("chart repository")]),
        Spec::new(&["template", "lint"])
            .style(EXACT)
            .options(&[CHART, options!("
                --strict, --quiet, --with-subcharts, --include-crds, --is-upgrade, --skip-tests, --skip-crds, --validate, -s --show-only T, -g --generate-name, --name-template T, --release-name, --no-hooks
                --api-versions V, --kube-version V, --dry-run [M], -a V
                --output-dir DIR : writes-below
            ")])
            .operands(Operands::all(Role::ReadBelow)),
        Spec::new(&["install", "upgrade", "uninstall", "delete", "rollback"])
            .style(EXACT)
            .options(&[CHART, options!("
                --create-namespace, --dry-run [M], --wait, --wait-for-jobs, --timeout T, --atomic, -i --install, --force, --reuse-values, --reset-values, --reset-then-reuse-values, --history-max N
                --no-hooks, --skip-crds, -g --generate-name, --name-template T, --replace, --description T, --labels L, --cleanup-on-fail, --keep-history, --cascade C, --render-subchart-notes, -o --output F
                --disable-openapi-validation, --dependency-update, --skip-schema-validation, --take-ownership, --hide-notes, --hide-secret, --enable-dns, --recreate-pods, --ignore-not-found
            ")])
            .acts(CHANGES),
        Spec::new(&["repo"]).style(EXACT).subs(&[
            Spec::new(&["list", "ls"]).style(EXACT).options(&[READ]),
            Spec::new(&[
                "add", "update", "up", "remove", "rm", "index",
            ]).style(EXACT.and(Style::HARMLESS)).acts(&[Act::Connects("chart repository"), Act::Named(Code::ChangesSettings)]),
        ]),
        Spec::new(&["pull", "fetch", "dependency", "dep", "package"])
            .style(EXACT)
            .options(&[CHART, options!("-d --destination DIR : makes-below
                --untardir DIR : makes-below
                --untar, --prov, -u, --app-version V, --sign, --key K")])
            .acts(&[Act::Connects("chart repository"), Act::WritesBelow(".")]),
        Spec::new(&["create"]).style(EXACT).options(&[options!("-p --starter S")]).operands(Operands::all(Role::WriteBelow)),
        Spec::new(&["push", "registry"]).style(EXACT.and(Style::HARMLESS)).acts(&[Act::Connects("registry"), Act::Named(Code::Publishes)]),
        Spec::new(&["plugin", "verify"]).style(EXACT.and(Style::HARMLESS)).acts(&[Act::Named(Code::Installs)]),
    ]),
    Spec::new(&["kustomize"]).style(EXACT).subs(&[
        Spec::new(&["build"])
            .style(EXACT)
            .options(&[options!("
                --load-restrictor L, --reorder R, --as-current-user, -e --env E, --enable-managedby-label
                -o --output FILE : writes
                --enable-alpha-plugins, --enable-exec, --enable-helm, --enable-star, --helm-command C, --network, --mount M : runs
            ")])
            .operands(Operands::READ_BELOW),
        Spec::new(&["version", "cfg"]).style(EXACT.and(Style::HARMLESS)),
        Spec::new(&["create", "edit", "fn", "localize"]).style(EXACT.and(Style::HARMLESS)).acts(&[Act::Named(Code::ChangesFiles)]),
    ]),
];

const GLOBAL: &Table = options!("
    -n --namespace NS, --kube-context C, --debug, --kube-apiserver HOST, --kube-as-user U, --kube-token T, --kube-insecure-skip-tls-verify, --burst-limit N, --qps N, --kube-as-group G, --kube-tls-server-name N
    --kubeconfig FILE, --kube-ca-file FILE, --registry-config FILE, --repository-config FILE : reads
    --repository-cache DIR : writes-below
");
const READ: &Table = options!("
    -A --all-namespaces, -a --all, -o --output F, -q --short, -f --filter F, -m --max N, --revision N, -d --date, -r --reverse, --deployed, --failed, --pending, --superseded, --uninstalled, --uninstalling
    -l --selector S, --offset N, --time-format F, --show-desc, --show-resources, --template T, --logs, --timeout T, --client, --short, --versions, --devel, --regexp, --version V, --list-repo-url, --no-headers
    --jsonpath P, --max-col-width N, --fail-on-no-result, -c
");
const CHART: &Table = options!("
    -f --values FILE, --set-file V, --ca-file FILE, --cert-file FILE, --key-file FILE, --keyring FILE : reads
    --set V, --set-string V, --set-json V, --set-literal V, --version V, --devel, --verify, --username U, --password P, --insecure-skip-tls-verify, --pass-credentials, --plain-http
    --repo URL : redirects
    --post-renderer P, --post-renderer-args A : runs
");
