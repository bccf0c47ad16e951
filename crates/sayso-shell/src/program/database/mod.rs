//! Clients of databases.

mod postgres;
mod server;
mod sqlite;

use super::Spec;

pub(super) const SPECS: &[&[Spec]] = &[postgres::SPECS, server::SPECS, sqlite::SPECS];
