//! Containers and clusters.

mod docker;
mod helm;
mod kubectl;

use super::Spec;

pub(super) const SPECS: &[&[Spec]] = &[docker::SPECS, helm::SPECS, kubectl::SPECS];
