//! Written by `examples/risk_train.rs`: train again instead of changing it.

use super::Feature;

/// The version of the model.
pub(super) const VERSION: &str = "1";
/// What one effect of each kind adds, in the order of the features.
pub(super) const POINTS: [u8; Feature::ALL.len()] = [
    10, // unknown-program
    15, // runs-code
    15, // unclear
    20, // environment
    20, // installs
    10, // changes-repository
    20, // changes-settings
    35, // publishes
    15, // serves
    25, // signals
    45, // changes-system
    30, // runs-elsewhere
    45, // shows-secrets
    45, // reads-secrets
    5, // reads-outside
    2, // writes-inside
    35, // writes-outside
    45, // changes-guarded
    5, // deletes-inside
    25, // deletes-many
    45, // deletes-outside
    20, // connects
    40, // connects-unclear
    15, // unknown-tool
    30, // secrets-and-network
    20, // code-and-network
];
