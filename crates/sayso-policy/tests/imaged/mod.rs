//! The same policy, once compiled and once from its image: whatever is asked, both must say the same.

use sayso_policy::{Decision, Facts, Operation, Policy, State, image};

/// A policy in both forms.
pub(crate) struct Both {
    compiled: Policy,
    imaged: Policy,
}

impl Both {
    pub(crate) fn new(compiled: Policy) -> Self {
        let bytes = image::write(&compiled, b"label", b"note").unwrap();
        let (imaged, note) = image::open(Box::new(bytes), b"label").unwrap();
        assert_eq!(note, b"note");
        Self { compiled, imaged }
    }

    pub(crate) fn evaluate(&self, operation: &Operation, state: &State, facts: Facts<'_>) -> Decision {
        let decision = self.compiled.evaluate(operation, state, facts);
        assert_eq!(self.imaged.evaluate(operation, state, facts), decision, "the image says something else");
        decision
    }
}
