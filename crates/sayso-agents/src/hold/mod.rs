//! Calls that run held.

#[allow(dead_code)]
mod rewrite;
