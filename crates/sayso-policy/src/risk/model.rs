//! Written by `examples/risk_train.rs`: train again instead of changing it.

use super::Feature;

/// The version of the model.
pub(super) const VERSION: &str = "1";
/// What one effect of each kind adds, in the order of the features.
pub(super) const POINTS: [u8; Feature::ALL.len()] = [
    0,  // unknown-program
    16, // runs-code
    13, // unclear
    30, // environment
    39, // installs
    18, // changes-repository
    42, // changes-settings
    47, // publishes
    19, // serves
    32, // signals
    57, // changes-system
    37, // runs-elsewhere
    54, // shows-secrets
    54, // reads-secrets
    2,  // reads-outside
    5,  // writes-inside
    55, // writes-outside
    54, // changes-guarded
    10, // deletes-inside
    14, // deletes-many
    54, // deletes-outside
    34, // connects
    36, // connects-unclear
    12, // unknown-tool
    24, // secrets-and-network
    18, // code-and-network
];
