//! Landlock: a second bound on files, which no mount and no descriptor from before leads around.

use crate::mounts::DEVICES;
use crate::plan::{Level, Plan};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use std::io;
use std::path::Path;

/// The newest rights that this knows of. Older kernels have fewer; what they lack is counted in [`crate::left_open`].
const NEWEST: ABI = ABI::V6;

/// The least that is worth anything: with less, a file can be moved out of its bounds or truncated in place.
const OLDEST: ABI = ABI::V3;

/// Restricts this process and all that come from it.
pub(crate) fn apply(plan: &Plan) -> io::Result<()> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))
        .map_err(io::Error::other)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .map_err(io::Error::other)?
        .scope(Scope::Signal)
        .and_then(|it| it.scope(Scope::AbstractUnixSocket))
        .map_err(io::Error::other)?;
    if plan.level == Level::Files {
        // No way to any host; a name could not be told from another here.
        ruleset = ruleset
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp | AccessNet::BindTcp)
            .map_err(io::Error::other)?
            .set_compatibility(CompatLevel::BestEffort);
    }
    let mut created = ruleset.create().map_err(io::Error::other)?;

    let read = AccessFs::from_read(NEWEST);
    let all = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    if plan.level == Level::Whole {
        created = allow(created, Path::new("/"), read)?;
        for folder in ["/dev/shm", "/dev/pts"] {
            created = allow(created, Path::new(folder), AccessFs::from_all(NEWEST))?;
        }
    }
    for path in &plan.readable {
        created = allow(created, path, read)?;
    }
    for path in &plan.writable {
        created = allow(created, path, all)?;
    }
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        if path.exists() {
            created = allow(created, &path, AccessFs::from_file(NEWEST) & !AccessFs::Execute)?;
        }
    }
    let status = created.restrict_self().map_err(io::Error::other)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(io::Error::other("this kernel has no Landlock")),
        _ => Ok(()),
    }
}

fn allow(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let file = match PathFd::new(path) {
        Ok(file) => file,
        // Gone since it was listed: nothing to allow.
        Err(_) if !path.exists() => return Ok(ruleset),
        Err(error) => return Err(io::Error::other(error)),
    };
    let is_folder = path.is_dir();
    let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(file, access)).map_err(io::Error::other)
}
