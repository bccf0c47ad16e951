//! Containers and clusters.

pub(crate) mod docker;
pub(crate) mod kubectl;
mod template;
