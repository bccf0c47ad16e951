//! GNU programs beside the system's own have a `g` before their name (`gls`, `gxargs`), as on BSD and macOS.

/// As GNU names them. Not every program with a `g` before it: `gw` is a build tool, not `w`.
const NAMES: &str = "
    arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir
    dirname du echo env expand expr factor false fmt fold groups head hostid id install join kill link ln
    logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pr printenv printf
    pwd readlink realpath rm rmdir runcon seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort
    split stat stdbuf stty sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink
    uptime users vdir wc who whoami yes
    find xargs locate grep egrep fgrep sed awk tar make time which patch diff ed
";

/// The name without its `g`, if GNU has such a program.
pub(super) fn plain(name: &str) -> Option<&str> {
    let plain = name.strip_prefix('g')?;
    names().any(|known| known == plain).then_some(plain)
}

/// `gls` is `ls`; every other name is itself.
pub(crate) fn without_gnu_prefix(name: &str) -> &str {
    plain(name).unwrap_or(name)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.split_ascii_whitespace()
}
