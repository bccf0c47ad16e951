//! Sayso, the command.

fn main() {}
