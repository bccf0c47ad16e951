//! docker, podman and compose.

use crate::effect::{Carry, NamedBy, Verb};
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Spec, View};
use crate::word::Word;
use crate::wrapper::{Launch, launch};

const EXACT: Style = Style::EXACT.and(Style::EQUALS);
const LEADING: Style = EXACT.and(Style::LEADING);
const CHANGES: &[Act] = &[Act::Named(Code::ChangesService)];

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["docker", "podman", "nerdctl"])
        .style(LEADING)
        .options(&[options!(
            "
            -D --debug, -l --log-level L, --tls, --tlsverify, -v, --cgroup-manager M, --events-backend B, --namespace N
            --config DIR : runs
            --tlscacert FILE, --tlscert FILE, --tlskey FILE : reads
            -c --context NAME, -H --host HOST, --url HOST, --connection NAME, -r --remote : runs-elsewhere
            --root DIR, --runroot DIR, --runtime R, --hooks-dir DIR, --module M, --conmon P : runs
        "
        )])
        .subs(DOCKER),
    Spec::new(&["docker-compose", "podman-compose"]).style(LEADING).options(&[COMPOSE]).subs(COMPOSE_SUBS),
    Spec::new(&["crictl", "ctr", "buildah", "skopeo", "apptainer", "singularity"]).style(Style::RAW).judge(by_verb),
];

const DOCKER: &[Spec] = &[
    Spec::new(&["ps", "images", "version", "info", "stats", "top", "port", "diff", "history", "events"])
        .style(EXACT)
        .options(&[LIST]),
    Spec::new(&["inspect"]).style(EXACT).options(&[LIST]),
    Spec::new(&["logs"]).style(EXACT).options(&[LOGS]),
    Spec::new(&["search"]).style(EXACT).options(&[LIST]).acts(&[Act::Connects("registry")]),
    Spec::new(&["exec"]).style(LEADING).options(&[EXEC]).judge(exec),
    Spec::new(&["run", "create"]).style(LEADING).options(&[RUN]).judge(run),
    Spec::new(&["build"]).style(EXACT).options(&[BUILD]).judge(build),
    Spec::new(&["pull"]).style(EXACT).options(&[PULL]).acts(&[Act::Connects("registry"), Act::Named(Code::Installs)]),
    Spec::new(&["push"]).style(EXACT).options(&[PULL]).acts(&[Act::Connects("registry"), Act::Named(Code::Publishes)]),
    Spec::new(&["login", "logout"])
        .style(EXACT)
        .options(&[options!("-u --username U, -p --password P, --password-stdin")])
        .acts(&[Act::Connects("registry"), Act::Named(Code::ChangesSettings)]),
    Spec::new(&["cp"]).style(EXACT).options(&[options!("-a --archive, -L --follow-link, -q --quiet")]).judge(cp),
    Spec::new(&["save", "export"]).style(EXACT).options(&[options!(
        "-o --output FILE : makes
        --platform P, -q --quiet, --format F, -m, --compress"
    )]),
    Spec::new(&["load", "import"])
        .style(EXACT)
        .options(&[options!(
            "-i --input FILE : reads
        -q --quiet, -c --change C, -m --message M, --platform P"
        )])
        .acts(CHANGES),
    Spec::new(&[
        "rm", "rmi", "stop", "start", "kill", "restart", "pause", "unpause", "rename", "tag", "commit", "update",
        "wait", "attach", "prune", "cleanup",
    ])
    .style(EXACT)
    .options(&[CHANGE])
    .acts(CHANGES),
    Spec::new(&["container"]).style(EXACT).subs(&[
        Spec::new(&["ls", "list", "ps", "inspect", "top", "stats", "port", "diff"]).style(EXACT).options(&[LIST]),
        Spec::new(&["logs"]).style(EXACT).options(&[LOGS]),
        Spec::new(&["exec"]).style(LEADING).options(&[EXEC]).judge(exec),
        Spec::new(&["run", "create"]).style(LEADING).options(&[RUN]).judge(run),
        Spec::new(&["cp"]).style(EXACT).options(&[options!("-a --archive, -L --follow-link, -q --quiet")]).judge(cp),
        Spec::new(&[
            "rm", "stop", "start", "kill", "restart", "pause", "unpause", "rename", "commit", "update", "wait",
            "attach", "prune",
        ])
        .style(EXACT)
        .options(&[CHANGE])
        .acts(CHANGES),
    ]),
    Spec::new(&["image"]).style(EXACT).subs(&[
        Spec::new(&["ls", "list", "inspect", "history"]).style(EXACT).options(&[LIST]),
        Spec::new(&["build"]).style(EXACT).options(&[BUILD]).judge(build),
        Spec::new(&["pull"])
            .style(EXACT)
            .options(&[PULL])
            .acts(&[Act::Connects("registry"), Act::Named(Code::Installs)]),
        Spec::new(&["push"])
            .style(EXACT)
            .options(&[PULL])
            .acts(&[Act::Connects("registry"), Act::Named(Code::Publishes)]),
        Spec::new(&["rm", "prune", "tag", "load", "import"]).style(EXACT).options(&[CHANGE]).acts(CHANGES),
    ]),
    Spec::new(&[
        "volume",
        "network",
        "context",
        "plugin",
        "node",
        "service",
        "stack",
        "swarm",
        "secret",
        "config",
        "system",
        "manifest",
        "trust",
        "checkpoint",
        "pod",
        "machine",
        "builder",
    ])
    .style(EXACT)
    .subs(&[
        Spec::new(&["ls", "list", "inspect", "ps", "show", "df", "info", "events", "exists", "services", "tasks"])
            .style(EXACT)
            .options(&[LIST]),
        Spec::new(&[
            "create",
            "rm",
            "remove",
            "prune",
            "connect",
            "disconnect",
            "use",
            "update",
            "deploy",
            "init",
            "join",
            "leave",
            "install",
            "enable",
            "disable",
            "scale",
            "start",
            "stop",
            "kill",
            "restart",
            "export",
            "import",
            "rollback",
            "promote",
            "demote",
            "push",
            "annotate",
            "sign",
            "revoke",
            "set",
            "upgrade",
            "ssh",
            "reset",
            "migrate",
            "renumber",
        ])
        .style(EXACT.and(Style::HARMLESS))
        .acts(CHANGES),
    ]),
    Spec::new(&["buildx"]).style(EXACT).subs(&[
        Spec::new(&["ls", "inspect", "du", "version"]).style(EXACT).options(&[LIST]),
        Spec::new(&["build", "b"]).style(EXACT).options(&[BUILD]).judge(build),
        Spec::new(&["bake", "create", "use", "rm", "prune", "stop", "install", "uninstall", "imagetools"])
            .style(EXACT.and(Style::HARMLESS))
            .acts(CHANGES),
    ]),
    Spec::new(&["compose"]).style(LEADING).options(&[COMPOSE]).subs(COMPOSE_SUBS),
];

const LIST: &Table = options!("
    -a --all, -q --quiet, -f --filter F, --follow, --format F, --no-trunc, -n --last N, -l --latest, -s --size, --type T, -t --timestamps, --tail N, --since T, --until T, --details, --no-stream
    -H --human, --digests, --tree, --limit N, -v --verbose, --insecure, --services, --orphans, --status S, --no-log-prefix, --no-color, --names, --ns, --sort F, --noheading, --pod
");
const LOGS: &Table = options!("
    -f --follow, -t --timestamps, -n --tail N, --since T, --until T, --details, --no-log-prefix, --no-color, --names, -l --latest, --index N
");
const CHANGE: &Table = options!("
    -f --force, -v --volumes, -l --link, -a --all, -t --time N, -s --signal S, --no-prune, --filter F, -m --message M, -c --change C, --author A, -p --pause, -i --interactive
    --detach-keys K, --no-stdin, --sig-proxy, --timeout N, --memory N, --cpus N, --restart P, --rmi T, -q --quiet, --attach, --ignore, -x --external
");
const EXEC: &Table = options!("
    -d --detach, --detach-keys K, -e --env E, -i --interactive, -t --tty, -u --user U, -w --workdir DIR, --index N, -T --no-TTY, -it
    --env-file FILE : reads
    --privileged : changes-system
");
const PULL: &Table = options!(
    "-a --all-tags, --disable-content-trust, --platform P, -q --quiet, --tls-verify, --creds C, --authfile F, --policy P, --ignore-pull-failures, --include-deps"
);
const RUN: &Table = options!("
    -a --attach S, -d --detach, --detach-keys K, --disable-content-trust, --dns D, --domainname D, -e --env E, --entrypoint C, --expose P, --health-cmd C, --health-interval T, --health-retries N
    --health-timeout T, -h --hostname H, --init, -i --interactive, --ip A, -l --label L, --label-file F, --log-driver D, --log-opt O, -m --memory N, --memory-swap N, --name N, --no-healthcheck
    --cpus N, --cpu-shares N, --cpuset-cpus S, --oom-kill-disable, --platform P, --pull W, -q --quiet, --read-only, --restart P, --rm, --shm-size N, --stop-signal S, --stop-timeout N, --tmpfs D
    -t --tty, -u --user U, --ulimit U, -w --workdir DIR, --annotation A, --pids-limit N, --replace, --link L, --network-alias A, --no-deps, --build, -T --no-TTY, -it, --add-host H, --sig-proxy, --blkio-weight N, --blkio-weight-device D, --cap-drop C, --cpu-count N, --cpu-percent N, --cpu-period N, --cpu-quota N
    --cpu-rt-period N, --cpu-rt-runtime N, --cpuset-mems S, --device-read-bps D, --device-read-iops D, --device-write-bps D, --device-write-iops D, --dns-option D, --dns-search D, --group-add G
    --health-start-interval T, --health-start-period T, --io-maxbandwidth N, --io-maxiops N, --ip6 A, --kernel-memory N, --link-local-ip A, --mac-address A, --memory-reservation N, --memory-swappiness N
    --oom-score-adj N, --storage-opt O, --volume-driver D
    --env-file FILE : reads
    --cidfile FILE : writes
    -v --volume V, --mount M, --volumes-from C
    -p --publish P, -P --publish-all, --service-ports : serves
    --privileged, --cap-add C, --device D, --security-opt O, --pid P, --ipc I, --userns U, --uts U, --cgroupns C, --cgroup-parent C, --device-cgroup-rule R, --gpus G, --sysctl S : changes-system
    --net --network N, --runtime R, --isolation I
");
const BUILD: &Table = options!("
    --build-arg A, --cache-from I, --cache-to I, --compress, --force-rm, --label L, --no-cache, --platform P, --progress P, --pull, -q --quiet, --rm, --shm-size N, -t --tag T, --target S, --ulimit U
    --load, --builder B, --squash, -m --memory N, --network N, --no-cache-filter S, --provenance V, --sbom V, --add-host H, --annotation A, --call C, --check, --layers, --cpu-period N, --cpu-quota N, -c --cpu-shares N, --cpuset-cpus S, --cpuset-mems S, --memory-swap N, --disable-content-trust, --attest A, --debug, -D
    --cgroup-parent C, --format F, --isolation I
    -f --file FILE : reads
    --iidfile FILE, --metadata-file FILE : writes
    -o --output DEST : writes-below
    --secret S, --ssh S : shows-secrets
    --push : publishes
    --allow A, --security-opt O, --privileged, --cap-add C, -v --volume V : changes-system
");
const COMPOSE: &Table = options!("
    --ansi W, --compatibility, --dry-run, --parallel N, --profile P, --progress P, -p --project-name N, --verbose, -v, --all-resources
    --env-file FILE, --project-directory DIR : reads
    -f --file FILE : recipe
    -H --host HOST, -c --context NAME : runs-elsewhere
");
const COMPOSE_SUBS: &[Spec] = &[
    Spec::new(&["logs"]).style(EXACT).options(&[LOGS]),
    Spec::new(&[
        "ps", "ls", "images", "top", "config", "convert", "version", "port", "events", "stats", "volumes",
    ]).style(EXACT).options(&[LIST, options!("
        --environment, --hash S, --images, --no-consistency, --no-interpolate, --no-normalize, --no-path-resolution, --profiles, --resolve-image-digests, --networks, --variables, --index N, --protocol P, --short, --json
        -o --output FILE : writes
    ")]),
    Spec::new(&["exec"]).style(LEADING).options(&[EXEC]).judge(exec),
    Spec::new(&["run"]).style(LEADING).options(&[RUN]).judge(run),
    Spec::new(&[
        "up", "build", "create", "kill", "rm", "scale", "watch", "wait", "attach", "cp", "commit", "export",
    ])
        .style(EXACT.and(Style::HARMLESS))
        .acts(CHANGES),
    Spec::new(&["start", "stop", "restart", "pause", "unpause"])
        .style(EXACT)
        .options(&[options!("-t --timeout N, --no-deps, --wait, --wait-timeout N")])
        .acts(CHANGES)
        .judge(of_this_project),
    Spec::new(&["down"])
        .style(EXACT)
        .options(&[options!("
            -t --timeout N, --remove-orphans
            -v --volumes, --rmi T : changes-service
        ")])
        .acts(CHANGES)
        .judge(of_this_project),
    Spec::new(&["pull"]).style(EXACT).options(&[PULL]).acts(&[Act::Connects("registry"), Act::Named(Code::Installs)]),
    Spec::new(&["push", "publish"]).style(EXACT).options(&[PULL]).acts(&[Act::Connects("registry"), Act::Named(Code::Publishes)]),
];

fn exec(view: &mut View<'_>) {
    let by = view.by_words();
    view.named(Code::Remote, by, 0);
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch { elsewhere: true, ..Launch::default() });
    }
}

/// An image is fetched if it is missing, and its code runs; folders of this machine may be handed in.
fn run(view: &mut View<'_>) {
    let by = view.by_words();
    view.code("unknown", Code::RunsCode, by, 0);
    for (at, volume) in view.values("--volume") {
        bind(
            view,
            "--volume",
            volume.exact().map(|text| text.split(|&byte| byte == b':').next().unwrap_or_default().to_vec()),
            at,
        );
    }
    for (at, mount) in view.values("--mount") {
        let source = mount.exact_str().map(|text| {
            let source =
                text.split(',').find_map(|field| field.strip_prefix("source=").or_else(|| field.strip_prefix("src=")));
            source.unwrap_or_default().as_bytes().to_vec()
        });
        bind(view, "--mount", source, at);
    }
    for (at, network) in view.values("--net").into_iter().chain(view.values("--network")) {
        if !matches!(network.exact(), Some(b"none" | b"bridge" | b"default")) {
            view.named_by_flag(Code::ChangesSystem, "--net", at);
        }
    }
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch { elsewhere: true, ..Launch::default() });
    }
}

/// A folder of this machine that the container may read and change.
fn bind(view: &mut View<'_>, flag: &str, source: Option<Vec<u8>>, at: usize) {
    let carry = || Carry::Named { code: Code::ChangesFiles.as_str(), by: NamedBy::Flag(flag.to_owned()) };
    match source {
        // A name without a slash is a volume of docker's own.
        Some(source)
            if !source.is_empty() && (source.contains(&b'/') || source == b"." || source.starts_with(b"~")) =>
        {
            let word = Word::Exact(source.into());
            view.path_effect(Verb::Read, &word, at, true, Carry::Plain);
            view.path_effect(Verb::Write, &word, at, true, carry());
        }
        Some(_) => {}
        None => {
            view.path_effect(Verb::Read, &Word::Opaque, at, true, Carry::Plain);
            view.path_effect(Verb::Write, &Word::Opaque, at, true, carry());
        }
    }
}

fn build(view: &mut View<'_>) {
    let by = view.by_words();
    view.code("unknown", Code::RunsCode, by, 0);
    if let (Some(at), Some(context)) = (view.operand_at(0), view.operand(0)) {
        if context.exact_str().is_some_and(|text| text.contains("://") || text.starts_with("git@")) {
            view.connects(context, at);
        } else if context.exact() != Some(b"-") {
            view.reads_below(context, at);
        }
    }
}

/// `container:path` is the container's side.
fn cp(view: &mut View<'_>) {
    let by = view.by_words();
    view.named(Code::ChangesService, by, 0);
    for (n, verb) in [(0, Verb::Read), (1, Verb::Write)] {
        if let (Some(at), Some(word)) = (view.operand_at(n), view.operand(n)) {
            let inside = word
                .exact()
                .is_some_and(|text| text.contains(&b':') && !text.starts_with(b"/") && !text.starts_with(b"."));
            if !inside && word.exact() != Some(b"-") {
                view.path_effect(verb, word, at, true, Carry::Plain);
            }
        }
    }
}

/// Tools of which only the verbs that read are known.
pub(super) fn by_verb(view: &mut View<'_>) {
    crate::program::cloud::by_verb(
        view,
        &[
            "list",
            "ls",
            "ps",
            "info",
            "version",
            "status",
            "inspect",
            "images",
            "get",
            "show",
            "help",
            "--version",
            "--help",
            "config-view",
        ],
    );
}

/// A project of another name is another one's, whatever folder this is.
fn of_this_project(view: &mut View<'_>) {
    if let Some((at, _)) = view.values("--project-name").first() {
        view.named_by_flag(Code::ChangesService, "--project-name", *at);
    }
}
