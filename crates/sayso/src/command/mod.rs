//! One file for each command.

pub(crate) mod acp;
pub(crate) mod analyze;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod lint;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod reconcile;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod store;
pub(crate) mod test;
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod why;
