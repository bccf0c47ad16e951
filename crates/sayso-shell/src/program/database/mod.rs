//! Clients of databases.

pub(crate) mod postgres;
pub(crate) mod server;
pub(crate) mod sqlite;
