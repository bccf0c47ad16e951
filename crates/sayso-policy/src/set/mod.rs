//! Named sets. `@name` in a list stands for its members; a file's own sets act on that file alone.

mod guarded;

use sayso_shell::Verb;
use sayso_shell::program::{Catalogue, Facets, commands};

/// What a set's members are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SetKind {
    /// Commands.
    Run,
    /// Paths.
    Path,
    /// Hosts.
    Host,
    /// Tools.
    Tool,
}

impl SetKind {
    pub(crate) fn of(verb: Verb) -> Self {
        match verb {
            Verb::Run => Self::Run,
            Verb::Read | Verb::Write | Verb::Delete => Self::Path,
            Verb::Connect => Self::Host,
            Verb::Call => Self::Tool,
        }
    }

    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Run => "commands",
            Self::Path => "paths",
            Self::Host => "hosts",
            Self::Tool => "tools",
        }
    }
}

/// A set that is built in.
pub(crate) struct BuiltIn {
    pub name: &'static str,
    pub kind: SetKind,
    /// What stands in it beside the programs that have its facet: see [`Self::all`].
    pub members: &'static [&'static str],
}

/// Sets of the programs that have a facet: the tables of programs say which those are.
const OF_PROGRAMS: &[(&str, Facets)] = &[
    ("filters", Facets::FILTER),
    ("readers", Facets::READER),
    ("shells", Facets::SHELL),
    ("interpreters", Facets::INTERPRETER),
    ("compilation", Facets::BUILDS),
    ("read-only-git", Facets::READS_REPOSITORY),
    ("safe-npm", Facets::READS_PACKAGES),
    // Where a rule names these, a run is of a kind by what it does (`pattern/kind.rs`); in a pipe, by its program alone.
    ("builds", Facets::BUILDS),
    ("scripts", Facets::INTERPRETER.and(Facets::SHELL)),
    ("code", Facets::INTERPRETER),
];

impl BuiltIn {
    /// Everything in it, as patterns.
    pub(crate) fn all(&self, programs: &Catalogue) -> Vec<String> {
        let facet = OF_PROGRAMS.iter().find(|(name, _)| *name == self.name).map(|(_, facet)| *facet);
        let written = self.members.iter().map(|member| (*member).to_owned());
        let taught = facet.into_iter().flat_map(|facet| programs.with(facet)).map(str::to_owned);
        written.chain(facet.into_iter().flat_map(commands)).chain(taught).collect()
    }
}

/// The name that stands for whatever there is, in every kind: what cannot be seen through too.
pub(crate) const ANYTHING: &str = "anything";

/// A built-in set by name.
pub(crate) fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|set| set.name == name)
}

/// All names, for suggestions and the reference.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|set| set.name).chain([ANYTHING])
}

pub(crate) const BUILT_IN: &[BuiltIn] = &[
    BuiltIn { name: "filters", kind: SetKind::Run, members: &[] },
    BuiltIn { name: "readers", kind: SetKind::Run, members: &["@filters"] },
    BuiltIn { name: "shells", kind: SetKind::Run, members: &[] },
    BuiltIn { name: "interpreters", kind: SetKind::Run, members: &[] },
    BuiltIn { name: "compilation", kind: SetKind::Run, members: &[] },
    BuiltIn { name: "read-only-git", kind: SetKind::Run, members: &[] },
    BuiltIn { name: "safe-npm", kind: SetKind::Run, members: &[] },
    BuiltIn {
        // What tells of versions, packages, services and containers, and changes nothing.
        name: "lookups",
        kind: SetKind::Run,
        members: &[
            "cargo {tree,metadata,locate-project,pkgid,search,info,version,--version}",
            "{cargo,rustc,rustup,go,node,npm,npx,pnpm,bun,deno,python,python2,python3,python3.*,pip,pip3,uv,ruby,gem,java,javac} --version",
            "{gcc,g++,cc,clang,clang++,make,cmake,git,docker,kubectl,terraform,psql,sqlite3,tsc,ruff,mypy,eslint,gh} --version",
            "{python,python2,python3,python3.*} -V",
            "{node,perl} -v",
            "go {version,env,list,doc}",
            "rustup {show,which,toolchain}",
            "{pip,pip3} {show,list,freeze,check}",
            "uv pip {show,list,freeze,check,tree}",
            "{conda,mamba} {info,list}",
            "{conda,mamba} env list",
            "pnpm {list,ls,why,outdated,info}",
            "gem {list,info,which}",
            "docker {ps,images,inspect,version,info,logs,top,stats}",
            "kubectl {get,describe,version,explain,logs,top}",
            "gh {status,--version}",
            "gh {pr,issue,run,release,repo,workflow} {list,view,status,diff,checks}",
            "systemctl {status,is-active,is-enabled,list-units,list-unit-files,show}",
            "journalctl",
            "{apt,apt-cache} {list,show,search,policy,depends,rdepends}",
            "{dpkg,dpkg-query} {-l,-L,-s,-S}",
            "{brew,apk,rpm} {list,info,search,deps}",
            "openssl {x509,version,verify,crl,asn1parse}",
            "{gzip,gunzip,bzip2,bunzip2,xz,unxz,zstd,unzstd} {--stdout,--list,--test}",
            "sqlite3 --only-reads",
            "{ip,ss,netstat,ifconfig}",
            "{terraform,tofu} version",
            "tmux {ls,list-sessions,list-windows,list-panes}",
            "sqlite3 -version",
            "psql --version",
            "* {--help,--version}",
        ],
    },
    BuiltIn {
        // What loads an application of the project before it says what it is or how it is used.
        name: "loads-project",
        kind: SetKind::Run,
        members: &[
            "{flask,quart,fastapi,celery,scrapy,huey_consumer,dramatiq,rq,locust,behave,sphinx-build,mkdocs,pelican,lektor,kedro,dagster,prefect,dbt,airflow}",
            "{jest,vitest,mocha,ava,tap,jasmine,karma,cypress,playwright,web-test-runner,wtr,testcafe,uvu,qunit,lab,storybook,rake}",
            "{uvicorn,gunicorn,hypercorn,daphne,waitress-serve,unicorn,puma,sidekiq,hanami,jekyll,middleman,nanoc,guard,cucumber}",
        ],
    },
    BuiltIn { name: "builds", kind: SetKind::Run, members: &[] },
    BuiltIn { name: "scripts", kind: SetKind::Run, members: &[] },
    BuiltIn { name: "code", kind: SetKind::Run, members: &[] },
    BuiltIn {
        name: "secrets",
        kind: SetKind::Path,
        members: &[
            "/**/.env",
            "/**/.env.local",
            "/**/.env.*.local",
            "/**/.env.{production,prod,staging,development,dev,test,live}",
            "/**/*.env",
            "/**/.envrc.local",
            "/**/.netrc",
            "/**/_netrc",
            "/**/.pgpass",
            "/**/.my.cnf",
            "/**/.npmrc",
            "/**/.pypirc",
            "/**/.git-credentials",
            "/**/.htpasswd",
            "/**/.dockercfg",
            "/**/.docker/config.json",
            "/**/.kube/config",
            "/**/kubeconfig",
            "/**/.vault-token",
            "/**/.terraformrc",
            "/**/terraform.tfstate",
            "/**/*.tfvars",
            "/**/.cargo/credentials",
            "/**/.cargo/credentials.toml",
            "/**/.gem/credentials",
            "/**/.aws/**",
            "/**/.azure/**",
            "/**/.config/gcloud/**",
            "/**/.config/gh/hosts.yml",
            "/**/.config/hub",
            "/**/.oci/**",
            "/**/.ssh/id_*",
            "/**/.ssh/*_rsa",
            "/**/.ssh/*_ed25519",
            "/**/id_rsa",
            "/**/id_dsa",
            "/**/id_ecdsa",
            "/**/id_ed25519",
            "~/.ssh/**",
            "/**/.gnupg/**",
            "/**/*.pem",
            "/**/*.key",
            "/**/*.p12",
            "/**/*.pfx",
            "/**/*.jks",
            "/**/*.keystore",
            "/**/*.kdbx",
            "/**/*.ppk",
            "/**/secrets.{json,yml,yaml,toml,env}",
            "/**/credentials.{json,yml,yaml,toml,env,csv}",
            "/**/service-account*.json",
            "/**/.password-store/**",
            // What tools keep among what they fetched.
            "~/.cache/huggingface/token",
            "~/.cache/huggingface/stored_tokens",
            "~/.local/share/uv/credentials/**",
            "~/.npm-global/etc/npmrc",
            "~/.hex/hex.config",
            "~/.ivy2/.credentials",
            "~/.pub-cache/credentials.json",
            "/etc/shadow",
            "/etc/shadow-",
            "/etc/gshadow",
            "/etc/sudoers",
            "/etc/sudoers.d/**",
            "/etc/ssl/private/**",
            "/etc/ssh/ssh_host_*",
            "/proc/*/environ",
            "/proc/*/task/*/environ",
            "/proc/*/mem",
            "/proc/kcore",
            "~/.bash_history",
            "~/.zsh_history",
            "~/.python_history",
            "~/.psql_history",
            "~/.mysql_history",
            "~/.node_repl_history",
            "~/.claude.json",
            "/**/.claude/.credentials.json",
            "~/.codex/auth.json",
            "~/.gemini/oauth_creds.json",
            "~/.config/op/**",
            "~/.mozilla/**",
            "~/.config/google-chrome/**",
            "~/.config/chromium/**",
            "~/Library/Keychains/**",
            "~/.local/share/keyrings/**",
            "/run/secrets/**",
            "/var/run/secrets/**",
        ],
    },
    BuiltIn {
        // Files that later run or steer something.
        name: "guarded",
        kind: SetKind::Path,
        members: guarded::MEMBERS,
    },
    BuiltIn { name: "steers", kind: SetKind::Path, members: guarded::STEERS },
    BuiltIn {
        name: "scratch",
        kind: SetKind::Path,
        members: &["/tmp/**", "/var/tmp/**", "/private/tmp/**", "/private/var/tmp/**", "/dev/shm/**"],
    },
    BuiltIn {
        // Where tools fetch what a project declares. What is sent there may be kept there.
        name: "registries",
        kind: SetKind::Host,
        members: &[
            "index.crates.io",
            "static.crates.io",
            "registry.npmjs.org",
            "registry.yarnpkg.com",
            "pypi.org",
            "files.pythonhosted.org",
            "proxy.golang.org",
            "sum.golang.org",
            "repo.maven.apache.org",
            "repo1.maven.org",
            "plugins.gradle.org",
            "services.gradle.org",
            "rubygems.org",
            "index.rubygems.org",
            "api.nuget.org",
            "repo.packagist.org",
            "repo.hex.pm",
            "hackage.haskell.org",
        ],
    },
    BuiltIn {
        // This machine, by every name and address that leads to it: one that is all zeros does too.
        name: "loopback",
        kind: SetKind::Host,
        members: &[
            "localhost",
            "*.localhost",
            "localhost.localdomain",
            "localhost4",
            "localhost6",
            "ip6-localhost",
            "ip6-loopback",
            r"re:^127\.[0-9]+\.[0-9]+\.[0-9]+$",
            "0.0.0.0",
            "::1",
            "::",
        ],
    },
    BuiltIn {
        // Machines nearby, which the web does not reach: private and link-local addresses, names without a dot, and
        // those below domains that are nobody's on the web.
        name: "private-hosts",
        kind: SetKind::Host,
        members: &[
            r"re:^(10|127|0|192\.168|169\.254|172\.(1[6-9]|2[0-9]|3[01])|100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7]))\.[0-9.]+$",
            // Of the sixth version: its own, link-local ones, and what carries an address of the fourth.
            "re:^f[cd][0-9a-f]{2}:",
            "re:^fe[89a-f][0-9a-f]:",
            "re:^(::|64:ff9b:|2002:)",
            r"re:^[^.:]+$",
            "*.{internal,local,localdomain,localhost,lan,intranet,corp,home,private,home.arpa}",
            "100.100.100.200",
        ],
    },
    BuiltIn { name: "fs", kind: SetKind::Tool, members: &["file_read", "file_write", "file_list", "file_delete"] },
    BuiltIn { name: "runtime", kind: SetKind::Tool, members: &["bash_execute"] },
    BuiltIn { name: "web", kind: SetKind::Tool, members: &["web_fetch", "web_search"] },
    BuiltIn { name: "sessions", kind: SetKind::Tool, members: &["session_spawn", "session_list", "session_status"] },
    BuiltIn { name: "memory", kind: SetKind::Tool, members: &["memory_search", "memory_get"] },
    BuiltIn {
        name: "analysis",
        kind: SetKind::Tool,
        members: &["dependency_analyze", "codebase_analysis", "drift_detection"],
    },
    BuiltIn { name: "T0", kind: SetKind::Tool, members: &["read", "memory_search", "memory_get", "session_status"] },
    BuiltIn { name: "T1", kind: SetKind::Tool, members: &["write", "edit", "message", "browser", "cron", "web_fetch"] },
    BuiltIn {
        name: "T2",
        kind: SetKind::Tool,
        members: &["exec", "process", "gateway", "nodes", "canvas", "voice_call"],
    },
    BuiltIn {
        name: "essential",
        kind: SetKind::Tool,
        members: &["message", "gateway", "session_status", "sessions_list", "sessions_send", "tts"],
    },
    BuiltIn { name: "profile-minimal", kind: SetKind::Tool, members: &["session_status"] },
    BuiltIn { name: "profile-coding", kind: SetKind::Tool, members: &["@fs", "@runtime", "@sessions", "@memory"] },
    BuiltIn { name: "profile-analysis", kind: SetKind::Tool, members: &["@analysis", "file_read", "file_list"] },
    BuiltIn { name: "profile-full", kind: SetKind::Tool, members: &["*"] },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_members_that_are_sets_exist_in_the_same_kind() {
        for set in BUILT_IN {
            assert_eq!(names().filter(|name| *name == set.name).count(), 1, "{}", set.name);
            assert!(!set.all(&sayso_shell::program::BUILT_IN).is_empty());
            for member in set.all(&sayso_shell::program::BUILT_IN) {
                if let Some(name) = member.strip_prefix('@') {
                    assert_eq!(built_in(name).expect(name).kind, set.kind, "{name}");
                }
            }
        }
    }
}
