//! Environment prefixes that change what runs.

use super::{Description, Invocation, variable};
use crate::word::Word;

/// Whether setting this variable for a command changes which code runs, where it is fetched from, or whom it trusts.
#[must_use]
pub fn changes_what_runs(name: &str) -> bool {
    const EXACT: &[&str] = &[
        "PATH",
        "IFS",
        // Where the options of most programs end.
        "POSIXLY_CORRECT",
        "_POSIX2_VERSION",
        "ENV",
        "BASH_ENV",
        "SHELL",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "PROMPT_COMMAND",
        "CDPATH",
        "PAGER",
        "MANPAGER",
        "MANOPT",
        "LESSOPEN",
        // `file` quotes what it does not understand of it.
        "MAGIC",
        "LESSCLOSE",
        "LESS",
        "LESSKEY",
        "LESSKEYIN",
        "LESSKEY_CONTENT",
        "BAT_PAGER",
        "EDITOR",
        "VISUAL",
        "BROWSER",
        "FCEDIT",
        "HGEDITOR",
        "SVN_EDITOR",
        "SUDO_ASKPASS",
        "SSH_ASKPASS",
        "SUDO_EDITOR",
        "SYSTEMD_EDITOR",
        "SYSTEMD_PAGER",
        "PSQL_EDITOR",
        "PSQL_PAGER",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "PYTHONWARNINGS",
        "PYTHONBREAKPOINT",
        "PYTHONUSERBASE",
        "PYTHONEXECUTABLE",
        "PYTHONPLATLIBDIR",
        "VIRTUAL_ENV",
        "PERL5LIB",
        "PERL5OPT",
        "PERLLIB",
        "PERL5DB",
        "RUBYOPT",
        "RUBYLIB",
        "GEM_PATH",
        "GEM_HOME",
        "BUNDLE_GEMFILE",
        "LUA_INIT",
        "LUA_PATH",
        "LUA_CPATH",
        "PHPRC",
        "PHP_INI_SCAN_DIR",
        "R_PROFILE",
        "R_PROFILE_USER",
        "R_ENVIRON",
        "R_ENVIRON_USER",
        "JULIA_LOAD_PATH",
        "JULIA_DEPOT_PATH",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "JAVA_HOME",
        "CLASSPATH",
        "MAVEN_OPTS",
        "MAVEN_ARGS",
        "GRADLE_OPTS",
        "ANT_OPTS",
        "SBT_OPTS",
        "JAVA_OPTS",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "RUSTUP_HOME",
        "RUSTUP_TOOLCHAIN",
        "RUSTUP_DIST_SERVER",
        "CC",
        "CXX",
        "CPP",
        "LD",
        "AR",
        "AS",
        "FC",
        "HOSTCC",
        "CFLAGS",
        "CXXFLAGS",
        "LDFLAGS",
        "CPPFLAGS",
        "GCC_EXEC_PREFIX",
        "COMPILER_PATH",
        "CPATH",
        "C_INCLUDE_PATH",
        "LIBRARY_PATH",
        "MAKEFLAGS",
        "MAKEFILES",
        "GNUMAKEFLAGS",
        "MAKE",
        "MAKE_COMMAND",
        "MFLAGS",
        "CMAKE_TOOLCHAIN_FILE",
        "GOFLAGS",
        "GOPATH",
        "GOROOT",
        "GOPROXY",
        "GONOSUMDB",
        "GONOSUMCHECK",
        "GOSUMDB",
        "GOINSECURE",
        "GOPRIVATE",
        "GOTOOLCHAIN",
        "GOENV",
        "GOTMPDIR",
        "CGO_CFLAGS",
        "CGO_LDFLAGS",
        "RIPGREP_CONFIG_PATH",
        "FZF_DEFAULT_COMMAND",
        "FZF_DEFAULT_OPTS",
        "TAR_OPTIONS",
        "GZIP",
        "XZ_OPT",
        "XZ_DEFAULTS",
        "GREP_OPTIONS",
        "RSYNC_RSH",
        "RSYNC_CONNECT_PROG",
        "CVS_RSH",
        "SVN_SSH",
        "HGRCPATH",
        "HGPLAIN",
        "SSH_AUTH_SOCK",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "CURL_HOME",
        "WGETRC",
        "SYSTEM_WGETRC",
        "INPUTRC",
        "TERMINFO",
        "TERMINFO_DIRS",
        "TERMCAP",
        "LOCALDOMAIN",
        "HOSTALIASES",
        "RES_OPTIONS",
        "RESOLV_HOST_CONF",
        "GCONV_PATH",
        "LOCPATH",
        "NLSPATH",
        "MALLOC_TRACE",
        "HOSTFILE",
        "KUBECONFIG",
        "DOCKER_HOST",
        "DOCKER_CONFIG",
        "DOCKER_CONTEXT",
        "TF_CLI_CONFIG_FILE",
        "ANSIBLE_CONFIG",
        "VAGRANT_HOME",
        "CARGO_HOME",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "XDG_DATA_DIRS",
        "PSQLRC",
        "PGSYSCONFDIR",
        "PGSERVICEFILE",
        "PGSERVICE",
        "PGHOST",
        "PGHOSTADDR",
        "PGPASSFILE",
        "SQLITE_HISTORY",
        "MYSQL_HOME",
        "VIMINIT",
        "EXINIT",
        "VIM",
        "VIMRUNTIME",
        "MYVIMRC",
        "GVIMINIT",
        "NVIM_APPNAME",
        "EMACSLOADPATH",
        "SCREENRC",
        "TMUX_TMPDIR",
        "POETRY_HOME",
        "TOX_CONFIG_FILE",
        "COVERAGE_RCFILE",
        "PYTEST_ADDOPTS",
        "PYTEST_PLUGINS",
        "COVERAGE_PROCESS_START",
        "JEST_CONFIG",
        "BABEL_ENV_CONFIG",
        "ESLINT_USE_FLAT_CONFIG",
        "PRETTIERD_DEFAULT_CONFIG",
        "COREPACK_NPM_REGISTRY",
        "DENO_DIR",
        "BUN_INSTALL",
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
        "FTP_PROXY",
        "ftp_proxy",
        "WINEPREFIX",
        "QT_PLUGIN_PATH",
        "GTK_MODULES",
        "GTK_PATH",
        "GIO_EXTRA_MODULES",
        "OPENSSL_CONF",
        "OPENSSL_ENGINES",
        "OPENSSL_MODULES",
        "KRB5_CONFIG",
        "SASL_PATH",
        "PKG_CONFIG",
        "PKG_CONFIG_PATH",
        "PKG_CONFIG_LIBDIR",
        "ACLOCAL_PATH",
        "M4",
        "YACC",
        "LEX",
        "ANDROID_HOME",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_LIBRARY_PATH",
        "BASH_FUNC",
        "ZDOTDIR",
        "NULLCMD",
        "READNULLCMD",
        "FPATH",
        "HISTFILE",
        "MAIL",
        "MAILCHECK",
        "MAILPATH",
        "SYSTEMD_UNIT_PATH",
    ];
    const BEGINS: &[&str] = &[
        "LD_",
        "DYLD_",
        "GIT_",
        "GLIBC_TUNABLES",
        "BASH_FUNC_",
        "npm_config_",
        "NPM_CONFIG_",
        "YARN_",
        "PNPM_",
        "PIP_",
        "UV_",
        "CARGO_BUILD_",
        "CARGO_TARGET_",
        "CARGO_ALIAS_",
        "CARGO_REGISTRIES_",
        "CARGO_REGISTRY_",
        "CARGO_SOURCE_",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_PROFILE_",
        "GEM_",
        "BUNDLE_",
        "POETRY_",
        "CONDA_",
        "TF_CLI_ARGS",
        "TF_VAR_",
        "AWS_CONFIG",
        "AWS_SHARED_",
        "AWS_ENDPOINT",
        "ANSIBLE_",
        "LESS_",
        "MESON",
        "CMAKE_",
        "DOTNET_",
        "NUGET_",
        "MSBUILD",
        "COMPlus_",
        "CORECLR_",
        "GH_",
        "HOMEBREW_",
        "TASK_X_",
    ];
    /// Of the families above, what only tunes output.
    const TAME: &[&str] = &[
        "GIT_OPTIONAL_LOCKS",
        "GIT_TERMINAL_PROMPT",
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_DATE",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_DATE",
        "GIT_MERGE_VERBOSITY",
        "GIT_LITERAL_PATHSPECS",
        "GIT_ADVICE",
        "GIT_FLUSH",
        "PIP_DISABLE_PIP_VERSION_CHECK",
        "PIP_NO_INPUT",
        "PIP_NO_COLOR",
        "PIP_QUIET",
        "CARGO_TERM_COLOR",
        "UV_NO_PROGRESS",
        "YARN_SILENT",
        "DOTNET_CLI_TELEMETRY_OPTOUT",
        "DOTNET_NOLOGO",
        "HOMEBREW_NO_AUTO_UPDATE",
        "HOMEBREW_NO_ENV_HINTS",
        "LESS_TERMCAP_mb",
        "GH_PROMPT_DISABLED",
        "GH_NO_UPDATE_NOTIFIER",
        "NPM_CONFIG_LOGLEVEL",
        "npm_config_loglevel",
        "npm_config_yes",
    ];
    let suspicious = EXACT.contains(&name) || BEGINS.iter().any(|prefix| name.starts_with(prefix));
    (suspicious || variable::runs_code(name)) && !TAME.contains(&name)
}

/// Values that make a variable harmless whatever it could do otherwise: `GIT_PAGER=cat`, `PAGER=`.
fn is_tame_value(name: &str, value: &Word) -> bool {
    let pager = matches!(name, "PAGER" | "GIT_PAGER" | "MANPAGER" | "SYSTEMD_PAGER" | "GH_PAGER" | "BAT_PAGER");
    pager && matches!(value.exact(), Some(b"" | b"cat" | b"/bin/cat" | b"/usr/bin/cat"))
        || matches!(name, "RUSTFLAGS" | "RUSTDOCFLAGS") && value.exact_str().is_some_and(only_tunes_rustc)
        || name == "PGHOST" && value.exact().is_some_and(|host| host == b"localhost" || host.starts_with(b"/"))
        || name == "CARGO_TARGET_DIR" && value.exact_str().is_some_and(is_output_folder)
        || name == "LESS" && value.exact_str().is_some_and(|v| !v.contains(['+', '!', 'k', 'o', 'O']))
}

/// Whether flags of rustc set lints and how code is made, and name no program, library or file.
fn only_tunes_rustc(flags: &str) -> bool {
    const TUNES: &[&str] = &[
        "codegen-units",
        "debug-assertions",
        "debuginfo",
        "embed-bitcode",
        "force-frame-pointers",
        "instrument-coverage",
        "link-dead-code",
        "lto",
        "opt-level",
        "overflow-checks",
        "panic",
        "strip",
        "symbol-mangling-version",
        "target-cpu",
        "target-feature",
    ];
    let codegen = |option: &str| TUNES.contains(&option.split('=').next().unwrap_or(option));
    let mut words = flags.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let known = match word {
            "-D" | "-W" | "-A" | "-F" | "--cfg" | "--check-cfg" | "--cap-lints" => {
                words.next().is_some_and(|value| !value.starts_with(['-', '@']))
            }
            "-C" => words.next().is_some_and(codegen),
            "-g" | "-O" => true,
            word => {
                let lint = |letter: &str| word.strip_prefix(letter).is_some_and(|name| !name.contains(['/', '@']));
                ["-D", "-W", "-A", "-F", "--cap-lints=", "--cfg="].into_iter().any(lint)
                    || word.strip_prefix("-C").is_some_and(codegen)
            }
        };
        if !known {
            return false;
        }
    }
    true
}

/// Whether Python would look for modules in folders of the project, by a program that runs the project's code anyway:
/// tests can be written to import whatever lies there.
fn adds_own_modules(name: &str, value: &Word, description: &Description) -> bool {
    let own = |folder: &str| !folder.starts_with(['/', '~', '$']) && !folder.split('/').any(|part| part == "..");
    let runs_project = description.options.iter().any(|option| super::is_fact(&option.name));
    // `python -m pytest` only starts it, and is asked about that.
    let only_starts = description.transparent && !description.starts.is_empty();
    name == "PYTHONPATH"
        && (runs_project || only_starts)
        && value.exact_str().is_some_and(|folders| !folders.is_empty() && folders.split(':').all(own))
}

/// Whether a folder is one that cargo may fill and empty: `target` or its like in the project, or a temporary one.
/// `cargo clean` removes all of it.
fn is_output_folder(path: &str) -> bool {
    let mut parts = path.strip_prefix("./").unwrap_or(path).split('/');
    let scratch =
        ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| path.len() > folder.len() && path.starts_with(folder));
    let target = parts.next().is_some_and(|first| {
        first.strip_prefix("target").is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.']))
    });
    (scratch || target) && !path.split('/').any(|part| part == "..")
}

/// Whether a variable of this value changes what runs.
pub(crate) fn steers(name: &str, value: &Word) -> bool {
    changes_what_runs(name) && !is_tame_value(name, value)
}

pub(super) fn add_effects(inv: &Invocation<'_>, description: &mut Description) {
    for (name, value) in inv.env {
        let Some(name) = name.as_str() else { continue };
        if adds_own_modules(name, value, description) {
            continue;
        }
        if steers(name, value) {
            variable::connects(inv, value, description);
            variable::needs_yes(inv, name, format!("{name} changes what {} runs", inv.name), description);
        } else if changes_what_runs(name) {
            // Its value makes it harmless.
        } else if variable::names_output(name) {
            variable::written(inv, name, value, description);
        } else if variable::is_recipe(inv, value) {
            variable::needs_yes(inv, name, format!("{name} may run as part of a recipe"), description);
        } else if variable::is_strange(inv, name, value, description) {
            let text = format!("nobody knows what {} makes of {name}", inv.name);
            variable::needs_yes(inv, name, text, description);
        }
    }
}
