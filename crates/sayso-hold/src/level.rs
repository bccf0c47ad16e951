//! What *held files* does not cover.

/// Something that a run can do though the bounds do not say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Open {
    /// Files that steer, inside writable folders, can be changed, replaced or renamed away.
    SteeringFiles,
    /// Secrets inside writable folders can be read.
    SecretsInside,
    /// Mode, owner, times and extended attributes of the user's files can be changed anywhere.
    Metadata,
    /// Names, sizes and times of files can be seen anywhere.
    Names,
    /// The user's other processes can be seen, with their arguments.
    Processes,
    /// The priority and the processors of the user's other processes can be changed.
    Priorities,
}

impl Open {
    /// All of them.
    pub const ALL: &[Self] =
        &[Self::SteeringFiles, Self::SecretsInside, Self::Metadata, Self::Names, Self::Processes, Self::Priorities];

    /// In words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::SteeringFiles => {
                "guarded files inside writable folders can be changed, and what others have in temporary folders"
            }
            Self::SecretsInside => {
                "secrets inside writable folders, and what others have in temporary folders, can be read"
            }
            Self::Metadata => "mode, times and attributes of the user's files can be changed anywhere",
            Self::Names => "names, sizes and times of files can be seen anywhere",
            Self::Processes => "the user's other processes can be seen, with their arguments",
            Self::Priorities => "priorities of the user's other processes can be changed",
        }
    }
}

/// What a level leaves open.
#[must_use]
pub const fn left_open(level: crate::Level) -> &'static [Open] {
    match level {
        crate::Level::Whole => &[],
        crate::Level::Files => Open::ALL,
    }
}
