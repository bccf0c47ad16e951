//! Which program has which facets. A program stands in one row; programs with the same facets share it.
//!
//! A name need not have a table of options to stand here: `auggie` is known as an agent, and what its words do is not.

use super::{Facets, Row};

macro_rules! rows {
    ($($($name:literal)+ => $($facet:ident)+;)*) => {
        &[$(Row { names: &[$($name),+], facets: Facets::NONE$(.and(Facets::$facet))+ }),*]
    };
}

pub(super) const ROWS: &[Row] = rows! {
    // Shells, and boxes of many programs.
    "ash" "bash" "csh" "dash" "elvish" "es" "fish" "hush" "ksh" "ksh93" "lksh" "loksh" "mksh" "nu" "oksh" "osh"
    "pdksh" "posh" "powershell" "pwsh" "rbash" "rc" "rksh" "rzsh" "scsh" "sh" "tcsh" "xonsh" "yash" "ysh" "zsh"
        => SHELL;
    "busybox" "coreutils" "gbusybox" "gcoreutils" "rust-coreutils" "sbase-box" "toybox" "ubase-box" "uutils"
    "uutils-coreutils" => MULTI_CALL;

    // Languages.
    "lua" "python" => INTERPRETER ANY_ENDING;
    "R" "Rscript" "babashka" "babel-node" "bb" "bun" "chez" "chicken" "clisp" "clj" "clojure" "csi" "d8" "deno"
    "ecl" "elixir" "erl" "escript" "esno" "fennel" "ghci" "gnuplot" "gosh" "gp" "gprolog" "groovy" "guile" "hhvm"
    "hy" "iex" "ipython" "irb" "janet" "java" "jiti" "jruby" "jrunscript" "jsc" "jshell" "julia" "kotlin" "littler"
    "luajit" "matlab" "maxima" "mono" "nbb" "newlisp" "node" "nodejs" "ocaml" "octave" "osascript" "perl" "perl5"
    "php" "php7" "php8" "pike" "pypy" "python3" "pythonw" "qjs" "racket" "raku" "rexx" "ruby" "runghc" "runhaskell"
    "sage" "sbcl" "scala" "scheme" "scilab" "swc-node" "swipl" "tclsh" "texlua" "truffleruby" "ts-node"
    "ts-node-esm" "tsx" "txiki" "utop" "vite-node" "wasmer" "wasmtime" "wish" => INTERPRETER;

    // Agents, and editors with one in them.
    "aider" "amp" "claude" "claude-code" "codex" "copilot" "cursor-agent" "gemini" "gemini-cli" "goose" "openclaw"
    "opencode" => AGENT STARTS_AGENTS;
    "auggie" "cline" "crush" "droid" "interpreter" "kimi" "kiro-cli" "llm" "mods" "qwen" "sgpt" => AGENT;
    "cursor" "zed" => STARTS_AGENTS;

    // Commands of the shell itself.
    "." "source" => RUNS_ANYTHING;
    ":" "[" "[[" "alias" "bg" "bind" "break" "caller" "cd" "compgen" "complete" "continue" "declare" "dirs" "disown"
    "enable" "exit" "export" "false" "fg" "getopts" "hash" "help" "history" "jobs" "let" "local" "logout" "mapfile"
    "popd" "pushd" "pwd" "read" "readarray" "readonly" "return" "set" "shift" "shopt" "suspend" "test" "times"
    "true" "type" "typeset" "ulimit" "umask" "unalias" "unset" "wait" => READER;
    "builtin" "command" => READER ONLY_STARTS;
    "echo" "printf" => READER PRINTS_WORDS;
    "eval" => RUNS_ANYTHING ONLY_STARTS;
    "exec" => ONLY_STARTS;
    "trap" => READER RUNS_ANYTHING;

    // What reads, filters and prints.
    "ag" "arch" "b2sum" "basename" "bat" "batcat" "cal" "cat" "cksum" "cloc" "cmp" "date" "df" "diff" "dirname" "du"
    "exa" "expr" "eza" "factor" "fd" "fdfind" "file" "find" "free" "getconf" "getent" "groups" "hexdump" "hexyl"
    "hostname" "id" "less" "locale" "locate" "ls" "lsblk" "lscpu" "lsof" "man" "md5sum" "more" "nm" "nproc"
    "objdump" "pgrep" "pidof" "printenv" "ps" "pstree" "readelf" "readlink" "realpath" "sha1sum" "sha224sum"
    "sha256sum" "sha384sum" "sha512sum" "sleep" "stat" "strings" "sum" "tldr" "tokei" "top" "tput" "tree" "tty"
    "uname" "uptime" "users" "vmstat" "w" "whatis" "whereis" "which" "who" "whoami" "zipinfo" => READER;
    "awk" "gawk" "mawk" => FILTER RUNS_ANYTHING;
    "base64" "col" "column" "comm" "csplit" "cut" "egrep" "expand" "fgrep" "fmt" "fold" "grep" "head" "iconv" "join"
    "jq" "nl" "numfmt" "od" "paste" "rev" "rg" "sed" "shuf" "sort" "tac" "tail" "tr" "tsort" "unexpand" "uniq" "wc"
    "xxd" "yq" "zcat" "zgrep" => FILTER;
    "jot" "yes" => PRINTS_WORDS;
    "seq" => READER PRINTS_WORDS;
    "xargs" => READER FEEDS;

    // What starts others, fetches them, or runs whatever it is given.
    "abduco" "ansible" "ansible-console" "autossh" "byobu" "byobu-tmux" "crontab" "docker" "dtach" "dvtm" "ed"
    "elvis" "emacs" "emacsclient" "ex" "frawk" "goawk" "gvim" "k" "kubectl" "microk8s.kubectl" "mosh" "mosh-ssh"
    "nawk" "nerdctl" "nix-shell" "nvi" "nvim" "oc" "original-awk" "podman" "red" "remsh" "rexec" "rsh" "run0" "rvim"
    "salt" "screen" "slogin" "ssh" "tmux" "vi" "view" "vile" "vim" "vimdiff" "xemacs" "zellij" => RUNS_ANYTHING;
    "doas" "gosu" "pkexec" "runuser" "setpriv" "su" "su-exec" "sudo" "sudoedit" => OTHER_USER;
    "env" "ionice" "nice" "nohup" "setsid" "stdbuf" "time" "timeout" "unbuffer" "watch" => ONLY_STARTS;
    "parallel" => FEEDS;

    // What builds, and the rest.
    "c++" "cc" "clang" "clang++" "cmake" "ctest" "g++" "gcc" "gofmt" "javac" "kotlinc" "ld" "make" "msbuild" "ninja"
    "rustc" "rustfmt" "swiftc" "tsc" => BUILDS;
};
