//! Facets are compared with the lists of names that rooms kept before there were facets.

use super::*;
use crate::program::{runs_project_code, spec};
use std::collections::BTreeSet;

/// Every name of a list has the facet. Lists of what is dangerous may have grown since.
#[track_caller]
fn holds(facet: Facets, list: &str) {
    for name in list.split(' ') {
        assert!(facets(name).has(facet), "{name}");
    }
}

/// The list is exactly the facet: what is harmless does not grow by itself.
#[track_caller]
fn is(facet: Facets, list: &str) {
    let listed: BTreeSet<&str> = list.split(' ').collect();
    let named: BTreeSet<&str> = index::with(facet).map(|(name, _)| name).collect();
    assert_eq!(listed, named);
}

#[test]
fn a_name_that_nobody_knows_has_no_facets() {
    assert_eq!(facets("no-such-program"), Facets::NONE);
    assert_eq!(facets(""), Facets::NONE);
}

#[test]
fn every_facet_is_of_some_program() {
    for (name, facet) in Facets::ALL {
        assert!(!commands(*facet).is_empty(), "{name}");
    }
}

#[test]
fn other_versions_of_a_program_are_as_dangerous_and_not_as_harmless() {
    for name in ["python3.12", "python2", "lua5.4", "luatex", "ruby3.2", "php8.3", "perl5.36.0", "node-20", "bash-5.2"]
    {
        assert!(facets(name).has(Facets::SHELL.and(Facets::INTERPRETER)), "{name}");
    }
    for name in ["cat9", "ls2", "ggrep", "gsort", "sort-1"] {
        assert!(!facets(name).has(Facets::FILTER.and(Facets::READER)), "{name}");
    }
    let open: BTreeSet<&str> = index::with(Facets::ANY_ENDING).map(|(name, _)| name).collect();
    assert_eq!(open, index::ANY_ENDING.into_iter().collect());
}

#[test]
fn the_sets_of_a_policy_hold_what_they_held() {
    is(
        Facets::FILTER,
        "awk base64 col column comm csplit cut egrep expand fgrep fmt fold gawk grep head iconv join jq mawk nl numfmt od \
         paste rev rg sed shuf sort tac tail tr tsort unexpand uniq wc xxd yq zcat zgrep",
    );
    is(
        Facets::READER,
        "[ [[ ag arch basename bat batcat cal cat cksum cloc cmp cd date df diff dirname du echo eza exa expr factor false \
         fd fdfind file find free getconf getent groups hexdump hostname hexyl id jobs less locale locate ls lsblk lscpu \
         lsof man md5sum more nproc nm objdump pgrep pidof printenv printf ps pstree pwd popd pushd dirs readelf readlink \
         realpath seq sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sleep stat strings sum test tldr tokei top tput \
         tree true tty type uname uptime users vmstat w wait whatis whereis which who whoami xargs zipinfo : break continue \
         return exit shift read set unset export declare typeset local readonly let getopts mapfile readarray hash command \
         builtin times ulimit umask shopt help history alias unalias trap logout bind disown fg bg suspend caller compgen \
         complete enable",
    );
    is(
        Facets::BUILDS,
        "c++ cc clang clang++ cmake ctest g++ gcc gofmt javac kotlinc ld make msbuild ninja rustc rustfmt swiftc tsc",
    );
    assert!(!runs_project_code("gofmt", &[]), "what runs the project's own code is another fact");
    let part = |facet, part: &str| assert!(commands(facet).iter().any(|command| command == part), "{part}");
    part(Facets::READER, "tar --list");
    part(Facets::READER, "unzip {-l,-v,-Z,-t}");
    part(Facets::BUILDS, "cargo {build,check,clippy,test,nextest,fmt,doc,bench}");
    part(Facets::READS_REPOSITORY, "git stash {list,show}");
    part(Facets::READS_PACKAGES, "npm {config,pkg,doctor,search}");
}

#[test]
fn every_shell_that_any_list_knew_is_one() {
    holds(Facets::SHELL, "sh bash zsh dash ksh mksh fish ash csh tcsh rbash pwsh");
    holds(Facets::SHELL, "ksh93 oksh loksh yash posh powershell nu elvish xonsh osh ysh rc es scsh");
    holds(Facets::SHELL, "rzsh rksh pdksh lksh");
    assert!(commands(Facets::SHELL).contains(&"{busybox,toybox} {sh,ash,hush}".to_owned()));
    for (name, _) in index::with(Facets::SHELL) {
        assert!(spec(name).is_some() || crate::Dialect::named(name).is_some() || name == "hush", "{name}");
    }
}

#[test]
fn every_interpreter_and_agent_that_any_list_knew_is_one() {
    holds(Facets::INTERPRETER, "python python3 node nodejs deno bun perl ruby php lua osascript Rscript tclsh");
    holds(Facets::AGENT, "claude codex gemini copilot opencode cursor-agent openclaw aider goose amp qwen kimi");
    holds(Facets::AGENT, "llm sgpt mods cline interpreter auggie crush droid kiro-cli");
    is(
        Facets::STARTS_AGENTS,
        "claude claude-code codex gemini gemini-cli copilot opencode cursor cursor-agent openclaw zed aider goose amp",
    );
}

/// Names are added to tables more often than to rows.
#[test]
fn programs_that_are_described_alike_have_the_same_dangerous_facets() {
    let alike = [
        (Facets::SHELL, "bash sh fish"),
        (Facets::MULTI_CALL, "busybox"),
        (Facets::AGENT, "claude"),
        (Facets::INTERPRETER, "perl ruby php lua Rscript julia elixir python node tsx java"),
        (Facets::RUNS_ANYTHING, "docker kubectl vim emacs ed awk ssh tmux"),
    ];
    // Only builds what another one loads.
    let but = ["node-gyp"];
    for (facet, names) in alike {
        for name in names.split(' ') {
            for other in spec(name).unwrap().names.iter().filter(|other| !but.contains(other)) {
                assert!(facets(other).has(facet), "{other} is described as {name} is");
            }
        }
    }
}

#[test]
fn what_runs_anything_is_known_as_that() {
    let old = ". R aider amp ansible at auggie awk batch builtin bunx busybox chroot claude cline clojure codex command copilot \
        crontab crush cursor-agent doas docker droid ed elixir emacs entr env erl escript eval ex exec expect firejail flock \
        gawk gdb gemini ghci goose groovy guile ionice ipython irb java jshell julia kiro-cli kubectl lldb ltrace mawk nawk \
        nice nix-shell nohup npx nsenter nvim octave opencode parallel pipx pkexec podman qwen racket raku rlwrap rsh run0 \
        runghc runhaskell runuser sbcl scala screen script setpriv setsid source ssh stdbuf strace su sudo sudoedit \
        systemd-run taskset time timeout tmux toybox trap ts-node tsx unshare uvx vi vim watch wish xargs";
    let runs = Facets::SHELL.and(Facets::INTERPRETER).and(Facets::AGENT).and(Facets::RUNS_ANYTHING);
    for name in old.split(' ') {
        assert!(facets(name).has(runs) || crate::program::starts_others(name), "{name}");
    }
    // Other names of the same programs, which the old list left out.
    holds(Facets::RUNS_ANYTHING, "nerdctl oc view gvim emacsclient goawk slogin autossh remsh byobu zellij");
}

#[test]
fn what_redaction_skipped_it_still_skips() {
    let skipped = Facets::ONLY_STARTS.and(Facets::OTHER_USER).and(Facets::FEEDS);
    holds(skipped, "sudo doas env command exec builtin nice nohup time timeout stdbuf setsid xargs watch");
    holds(Facets::PRINTS_WORDS, "echo printf");
    for credential in crate::program::credential::CREDENTIALS {
        for program in credential.commands.iter().filter_map(|command| command.split(' ').next()) {
            assert!(!facets(program).has(skipped), "what {program} takes would not be seen any more");
        }
    }
}

#[test]
fn the_walker_knows_of_programs_what_it_knew() {
    holds(
        Facets::DECODES.and(Facets::INTERPRETER),
        "base64 base32 basenc xxd od openssl uudecode perl python python3 ruby node php gunzip zcat rev tac tr sed awk gawk mawk",
    );
    holds(Facets::PRINTS_WORDS, "echo printf yes seq jot");
    holds(Facets::DISTURBS, "chmod chown umount setfacl");
    holds(Facets::CLOSES, "chmod chown chgrp chattr chcon setfattr setfacl setcap xattr install");
    holds(Facets::SIGNALS, "kill pkill killall skill fuser");
    holds(Facets::FETCHES, "npx pnpx bunx");
    holds(Facets::FETCHES_BY_WORD, "npm pnpm yarn bun");
    holds(
        Facets::RESHAPES,
        "ln link mv rename tar bsdtar gtar unzip 7z 7za cpio pax ar rsync unsquashfs mount bindfs stow unrar dpkg-deb \
         rpm2cpio symlink",
    );
    holds(Facets::KEEPS_LINKS, "cp gcp install");
    holds(Facets::TRACES.and(Facets::SHELL).and(Facets::MULTI_CALL), "set shopt bash sh zsh dash ksh mksh ash busybox");
    is(
        Facets::HANDS_ON,
        "bash sh dash zsh ksh nice nohup timeout stdbuf setsid ionice time command exec builtin eval source . xargs find",
    );
    is(Facets::COPIES, "cp mv install");
    is(Facets::PACKS, "tar bsdtar");
    is(Facets::ATTRIBUTES, "chmod chown chgrp touch mkdir setfacl setcap xattr strip");
    is(Facets::COMPILES, "gcc g++ cc c++ clang clang++ rustc go ld javac nasm as");
    is(Facets::FEEDS, "xargs parallel");
    is(Facets::OTHER_USER, "sudo doas su runuser pkexec setpriv gosu su-exec sudoedit");
    is(Facets::OTHER_ROOT, "chroot nsenter bwrap firejail proot fakechroot-run unshare systemd-run");
    is(Facets::SEARCHES, "find fd fdfind");
    is(Facets::COPIES_INPUT, "cat");
    is(Facets::BASE64, "base64");
    is(Facets::REPOSITORY, "git");
}

#[test]
fn limits_integrity_and_servers_know_of_programs_what_they_knew() {
    holds(Facets::IDLE, ": true false echo printf pwd sleep");
    holds(Facets::MOVES, "cd pushd popd");
    is(Facets::HOLDS, "sayso");
    holds(
        Facets::ONLY_STARTS.and(Facets::SHELL),
        "bash builtin command dash env eval exec genv gtimeout ionice ksh nice nohup setsid sh stdbuf time timeout unbuffer zsh",
    );
    is(Facets::TEXT, "[ [[ ack ag awk echo egrep fgrep gawk grep jq mawk printf rg sed test");
    holds(Facets::SIGNALS_BY_NAME, "pkill killall killall5");
    is(Facets::RUNS_PACKAGES, "npx bunx pnpx uvx pipx node python python3 bun deno uv pnpm");
}

#[test]
fn files_of_instructions_are_read_by_those_that_were_known() {
    holds(
        Facets::READS_PLAIN,
        "sh bash dash ash zsh ksh mksh fish source csh tcsh tclsh expect rscript Rscript pwsh bats guile groovy osascript",
    );
    holds(Facets::READS_PYTHON, "python pypy pythonw");
    holds(Facets::READS_JAVASCRIPT, "node nodejs deno bun tsx ts-node");
    holds(Facets::READS_RUBY, "ruby jruby");
    holds(Facets::READS_LUA, "lua luajit");
    holds(Facets::READS_PERL, "perl");
    holds(Facets::READS_PHP, "php");
    holds(Facets::SCRIPT_BY_OPTION, "awk gawk sed");
}
