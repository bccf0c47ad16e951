//! Programs that their user has settings for.

use super::{Steered, steered};

pub(super) const ALL: &[Steered] = &[
    steered(&["psql", "pg_restore"], &[".psqlrc"]).home(&[".psqlrc", ".pg_service.conf"]),
    steered(&["mysql", "mariadb", "mysqldump"], &[]).home(&[".my.cnf"]),
    steered(&["sqlite3"], &[]).home(&[".sqliterc"]),
    steered(&["gdb", "lldb"], &[".gdbinit", ".lldbinit"]).home(&[".gdbinit", ".lldbinit"]),
    steered(&["vim", "nvim", "vi", "emacs", "ex"], &[".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"])
        .home(&[".vimrc", ".exrc", ".emacs", ".emacs.d/init.el", ".config/nvim/init.lua", ".config/nvim/init.vim"]),
    steered(&["tmux", "screen"], &[]).home(&[".tmux.conf", ".config/tmux/tmux.conf", ".screenrc"]),
    steered(&["ssh", "scp", "sftp", "rsync", "mosh"], &[]).home(&[".ssh/config"]),
    steered(&["curl"], &[]).home(&[".curlrc"]),
    steered(&["wget"], &[]).home(&[".wgetrc"]),
    steered(&["gh"], &[]).home(&[".config/gh/config.yml"]),
    steered(&["hg", "svn", "jj"], &[".hg/hgrc", ".jj/repo/config.toml"]).home(&[
        ".hgrc",
        ".jjconfig.toml",
        ".config/jj/config.toml",
    ]),
    // Its hooks and its settings lie where `git.rs` looks for them; husky's lead to those of the project.
    steered(&["git"], &[".husky/*"]).home(&[".gitconfig", ".config/git/config"]),
];
