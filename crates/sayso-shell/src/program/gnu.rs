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
    // By the first letter, because this is asked of every command.
    let letter = usize::from(plain.bytes().next()?.checked_sub(b'a')?);
    let names = usize::from(*BEGINNINGS.get(letter)?)..usize::from(*BEGINNINGS.get(letter + 1)?);
    NAMES.get(names)?.contains(&plain).then_some(plain)
}

/// Where in [`NAMES`] those with each letter begin, and where those with the last one end.
const BEGINNINGS: [u8; 27] = beginnings();

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
const fn beginnings() -> [u8; 27] {
    let mut out = [0; 27];
    let mut letter = 0;
    while letter < 27 {
        let mut at = 0;
        while at < NAMES.len() && NAMES[at].as_bytes()[0] < b'a' + letter {
            at += 1;
        }
        out[letter as usize] = at as u8;
        letter += 1;
    }
    out
}

/// `gls` is `ls`; every other name is itself.
pub(crate) fn without_gnu_prefix(name: &str) -> &str {
    plain(name).unwrap_or(name)
}

#[cfg(test)]
pub(super) fn names() -> &'static [&'static str] {
    NAMES
}
