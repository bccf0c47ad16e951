//! Which policy is in force, and where it comes from.

mod cache;
mod force;
mod last_good;
pub(crate) mod own;
mod programs;
mod repository;
mod source;
mod trust;
mod versions;
mod watch;

pub(crate) use cache::{leave_own, open_own};
pub(crate) use force::protecting;
pub use force::{InForce, Notice, project_of};
pub use programs::programs_standing;
pub use repository::Repository;
pub(crate) use repository::{common_folder, line};
pub use trust::{Standing, Trusted, distrust, standing, trust};
pub use versions::{Put, Putting, difference, find, problems, put, warnings};
pub(crate) use versions::{with_own_file, with_rules};
pub use watch::Live;
