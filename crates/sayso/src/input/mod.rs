//! From the command line to a tool call, and lines of JSON in and out.

pub(crate) mod call;
pub(crate) mod stream;
