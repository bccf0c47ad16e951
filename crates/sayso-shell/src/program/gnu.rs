//! GNU programs beside the system's own have a `g` before their name (`gls`, `gxargs`), as on BSD and macOS.

/// As GNU names them, sorted. Not every program with a `g` before it: `gw` is a build tool, not `w`.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "arch", "awk", "b2sum", "base32", "base64", "basename", "basenc", "cat", "chcon", "chgrp", "chmod", "chown",
    "chroot", "cksum", "comm", "cp", "csplit", "cut", "date", "dd", "df", "diff", "dir", "dirname", "du", "echo",
    "ed", "egrep", "env", "expand", "expr", "factor", "false", "fgrep", "find", "fmt", "fold", "grep", "groups",
    "head", "hostid", "id", "install", "join", "kill", "link", "ln", "locate", "logname", "ls", "make", "md5sum",
    "mkdir", "mkfifo", "mknod", "mktemp", "mv", "nice", "nl", "nohup", "nproc", "numfmt", "od", "paste", "patch",
    "pathchk", "pr", "printenv", "printf", "pwd", "readlink", "realpath", "rm", "rmdir", "runcon", "sed", "seq",
    "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shred", "shuf", "sleep", "sort", "split",
    "stat", "stdbuf", "stty", "sum", "sync", "tac", "tail", "tar", "tee", "test", "time", "timeout", "touch", "tr",
    "true", "truncate", "tsort", "tty", "uname", "unexpand", "uniq", "unlink", "uptime", "users", "vdir", "wc",
    "which", "who", "whoami", "xargs", "yes",
];

/// The name without its `g`, if GNU has such a program: `rm` for `grm`.
#[must_use]
pub fn plain(name: &str) -> Option<&str> {
    let plain = name.strip_prefix('g')?;
    NAMES.binary_search(&plain).is_ok().then_some(plain)
}

/// `gls` is `ls`; every other name is itself.
pub(crate) fn without_gnu_prefix(name: &str) -> &str {
    plain(name).unwrap_or(name)
}

#[cfg(test)]
pub(super) fn names() -> &'static [&'static str] {
    NAMES
}
