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
    "ash" "csh" "elvish" "fish" "hush" "ksh93" "lksh" "loksh" "mksh" "oksh" "osh" "pdksh" "posh" "powershell" "pwsh"
    "rbash" "rksh" "rzsh" "scsh" "tcsh" "xonsh" "yash" "ysh" => SHELL READS_PLAIN;
    "bash" "dash" "ksh" "sh" "zsh" => SHELL HANDS_ON READS_PLAIN;
    "busybox" "coreutils" "gbusybox" "gcoreutils" "rust-coreutils" "sbase-box" "toybox" "ubase-box" "uutils"
    "uutils-coreutils" => MULTI_CALL;
    "es" "nu" "rc" => SHELL;

    // Languages.
    "babel-node" "esno" "jiti" "nodejs" "swc-node" "ts-node" "ts-node-esm" "tsx" "vite-node"
        => INTERPRETER READS_JAVASCRIPT;
    "bats" "rscript" => READS_PLAIN;
    "bun" => INTERPRETER FETCHES_BY_WORD RUNS_PACKAGES READS_JAVASCRIPT;
    "deno" "node" => INTERPRETER RUNS_PACKAGES READS_JAVASCRIPT;
    "ipython" "pypy" => INTERPRETER READS_PYTHON;
    "jruby" "ruby" "truffleruby" => INTERPRETER READS_RUBY;
    "lua" => INTERPRETER ANY_ENDING READS_LUA;
    "luajit" => INTERPRETER READS_LUA;
    "perl" "perl5" => INTERPRETER READS_PERL;
    "php" => INTERPRETER READS_PHP;
    "python" => INTERPRETER ANY_ENDING RUNS_PACKAGES READS_PYTHON;
    "python3" => RUNS_PACKAGES INTERPRETER READS_PYTHON;
    "pythonw" => READS_PYTHON INTERPRETER;
    "R" "babashka" "bb" "chez" "chicken" "clisp" "clj" "clojure" "csi" "d8" "ecl" "elixir" "erl" "escript" "fennel"
    "ghci" "gnuplot" "gosh" "gp" "gprolog" "hhvm" "hy" "iex" "irb" "janet" "java" "jrunscript" "jsc" "jshell"
    "julia" "kotlin" "littler" "matlab" "maxima" "mono" "nbb" "newlisp" "ocaml" "octave" "php7" "php8" "pike" "qjs"
    "racket" "raku" "rexx" "runghc" "runhaskell" "sage" "sbcl" "scala" "scheme" "scilab" "swipl" "texlua" "txiki"
    "utop" "wasmer" "wasmtime" "wish" => INTERPRETER;
    "Rscript" "groovy" "guile" "osascript" "tclsh" => INTERPRETER READS_PLAIN;

    // Agents, and editors with one in them.
    "aider" "amp" "claude" "claude-code" "codex" "copilot" "cursor-agent" "gemini" "gemini-cli" "goose" "openclaw"
    "opencode" => AGENT STARTS_AGENTS;
    "auggie" "cline" "crush" "droid" "interpreter" "kimi" "kiro-cli" "llm" "mods" "qwen" "sgpt" => AGENT;
    "cursor" "zed" => STARTS_AGENTS;

    // Commands of the shell itself.
    "." => RUNS_ANYTHING HANDS_ON;
    ":" "false" "pwd" "true" => READER IDLE;
    "[" "[[" "test" => READER TEXT;
    "alias" "bg" "bind" "break" "caller" "compgen" "complete" "continue" "declare" "dirs" "disown" "enable" "exit"
    "export" "fg" "getopts" "hash" "help" "history" "jobs" "let" "local" "logout" "mapfile" "read" "readarray"
    "readonly" "return" "shift" "suspend" "times" "type" "typeset" "ulimit" "umask" "unalias" "unset" "wait"
        => READER;
    "builtin" "command" => READER ONLY_STARTS HANDS_ON;
    "cd" "popd" "pushd" => READER MOVES;
    "echo" "printf" => READER TEXT IDLE PRINTS_WORDS;
    "eval" => RUNS_ANYTHING ONLY_STARTS HANDS_ON;
    "exec" => ONLY_STARTS HANDS_ON;
    "kill" => SIGNALS;
    "set" "shopt" => READER TRACES;
    "source" => RUNS_ANYTHING HANDS_ON READS_PLAIN;
    "trap" => READER RUNS_ANYTHING;

    // What reads, filters and prints.
    "ack" => TEXT;
    "ag" => READER TEXT;
    "arch" "b2sum" "basename" "bat" "batcat" "cal" "cksum" "cloc" "cmp" "date" "df" "diff" "dirname" "du" "exa"
    "expr" "eza" "factor" "file" "free" "getconf" "getent" "groups" "hexdump" "hexyl" "hostname" "id" "less"
    "locale" "locate" "ls" "lsblk" "lscpu" "lsof" "man" "md5sum" "more" "nm" "nproc" "objdump" "pgrep" "pidof"
    "printenv" "ps" "pstree" "readelf" "readlink" "realpath" "sha1sum" "sha224sum" "sha256sum" "sha384sum"
    "sha512sum" "stat" "strings" "sum" "tldr" "tokei" "top" "tput" "tree" "tty" "uname" "uptime" "users" "vmstat"
    "w" "whatis" "whereis" "which" "who" "whoami" "zipinfo" => READER;
    "awk" "gawk" "mawk" => FILTER RUNS_ANYTHING TEXT DECODES SCRIPT_BY_OPTION;
    "base32" "basenc" "bzcat" "gunzip" "gzcat" "lz4cat" "openssl" "uncompress" "uudecode" "xzcat" "zstdcat"
        => DECODES;
    "base64" => FILTER DECODES BASE64;
    "cat" => READER COPIES_INPUT;
    "col" "column" "comm" "csplit" "cut" "expand" "fmt" "fold" "head" "iconv" "join" "nl" "numfmt" "paste" "shuf"
    "sort" "tail" "tsort" "unexpand" "uniq" "wc" "zgrep" => FILTER;
    "egrep" "fgrep" "grep" "rg" => FILTER TEXT;
    "fd" "fdfind" => READER SEARCHES;
    "find" => READER HANDS_ON SEARCHES;
    "frawk" "goawk" "nawk" "original-awk" => RUNS_ANYTHING DECODES SCRIPT_BY_OPTION;
    "jot" "yes" => PRINTS_WORDS;
    "jq" => FILTER TEXT SCRIPT_BY_OPTION;
    "od" "rev" "tac" "tr" "xxd" "zcat" => FILTER DECODES;
    "sed" => FILTER TEXT DECODES SCRIPT_BY_OPTION;
    "seq" => READER PRINTS_WORDS;
    "sleep" => READER IDLE;
    "xargs" => READER HANDS_ON FEEDS;
    "yq" => FILTER SCRIPT_BY_OPTION;

    // What starts others, fetches them, or runs whatever it is given.
    "abduco" "ansible" "ansible-console" "autossh" "byobu" "byobu-tmux" "crontab" "docker" "dtach" "dvtm" "ed"
    "elvis" "emacs" "emacsclient" "ex" "gvim" "k" "kubectl" "microk8s.kubectl" "mosh" "mosh-ssh" "nerdctl"
    "nix-shell" "nvi" "nvim" "oc" "podman" "red" "remsh" "rexec" "rsh" "run0" "rvim" "salt" "screen" "slogin" "ssh"
    "tmux" "vi" "view" "vile" "vim" "vimdiff" "xemacs" "zellij" => RUNS_ANYTHING;
    "bunx" "npx" "pnpx" => FETCHES RUNS_PACKAGES;
    "bwrap" "chroot" "fakechroot-run" "firejail" "nsenter" "proot" "systemd-run" "unshare" => OTHER_ROOT;
    "doas" "gosu" "pkexec" "runuser" "setpriv" "su" "su-exec" "sudo" "sudoedit" => OTHER_USER;
    "env" "unbuffer" "watch" => ONLY_STARTS;
    "ionice" "nice" "nohup" "setsid" "stdbuf" "time" "timeout" => ONLY_STARTS HANDS_ON;
    "npm" "yarn" "yarnpkg" => FETCHES_BY_WORD;
    "parallel" => FEEDS;
    "pipx" "uv" "uvx" => RUNS_PACKAGES;
    "pnpm" => FETCHES_BY_WORD RUNS_PACKAGES;

    // What changes files and the machine.
    "7z" "7za" "ar" "bindfs" "cpio" "dpkg-deb" "link" "ln" "mount" "pax" "rename" "rpm2cpio" "rsync" "stow"
    "symlink" "unrar" "unsquashfs" "unzip" => RESHAPES;
    "bsdtar" "tar" => PACKS RESHAPES;
    "chgrp" "mkdir" "setcap" "strip" "touch" "xattr" => ATTRIBUTES;
    "chmod" "chown" "setfacl" => DISTURBS ATTRIBUTES;
    "cp" "install" => COPIES KEEPS_LINKS;
    "fuser" "skill" => SIGNALS;
    "killall" "killall5" "pkill" => SIGNALS SIGNALS_BY_NAME;
    "mv" => COPIES RESHAPES;
    "umount" => DISTURBS;

    // What builds, and the rest.
    "as" "go" "nasm" => COMPILES;
    "c++" "cc" "clang" "clang++" "g++" "gcc" "javac" "ld" "rustc" => COMPILES BUILDS;
    "cmake" "ctest" "gofmt" "kotlinc" "make" "msbuild" "ninja" "rustfmt" "swiftc" "tsc" => BUILDS;
    "expect" => READS_PLAIN;
    "git" => REPOSITORY;
};
