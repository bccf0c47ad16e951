//! Tables of the texts in `programs/`, which `build.rs` makes.

use super::credential::{self, Credential, Hides};
use super::facet::Entry;
use super::goes_by::Steered;
use super::index::{self, Place};
use super::lines::KeepsLines;
use super::listen::Listener;
use super::number;
use super::text::{Does, Expressions, Facets, Spelling, Style, Takes};
use super::{Absent, Act, Code, Operands, Role, Spec};
use crate::option::Table;

include!(concat!(env!("OUT_DIR"), "/programs.rs"));
