//! Landlock: no signal and no abstract socket leaves the process's domain, and no TCP port can be
//! used. Without an empty root, Landlock also bounds the files.
//!
//! Landlock denies every file that no rule covers, also below a descriptor of a folder, and a rule
//! cannot be added later. So Landlock can bound the files only if the embedder has declared all
//! folders that it will mount. With an empty root there is no file to protect, and Landlock need
//! not bound the files.

use crate::Config;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use std::path::Path;

/// The newest version whose rights the wall handles. A kernel with an older version handles fewer.
const NEWEST: ABI = ABI::V6;

/// Restricts the process.
pub fn restrict(config: &Config, has_empty_root: bool) -> Result<(), String> {
    let told = |error: landlock::RulesetError| error.to_string();
    let bounds_files = !has_empty_root && config.roots.is_some();
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    if bounds_files {
        ruleset = ruleset.handle_access(AccessFs::from_all(NEWEST)).map_err(told)?;
    }
    let ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST)).map_err(told)?;
    let ruleset = ruleset.scope(Scope::from_all(NEWEST)).map_err(told)?;
    let mut ruleset = ruleset.create().map_err(told)?;
    if bounds_files {
        let reading = AccessFs::ReadFile | AccessFs::ReadDir;
        let writing = AccessFs::from_all(NEWEST)
            & !(AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev);
        let own = Path::new("/proc/self/fd");
        let read = [config.image.as_path(), own].into_iter().chain(config.python.as_deref()).map(|path| (path, reading));
        let write = config.store.iter().chain(config.roots.iter().flatten()).map(|path| (path.as_path(), writing));
        for (path, access) in read.chain(write) {
            ruleset = allow(ruleset, path, access)?;
        }
    }
    let status = ruleset.restrict_self().map_err(told)?;
    match (&status.landlock, &status.ruleset) {
        (_, RulesetStatus::FullyEnforced) if has_empty_root || bounds_files => Ok(()),
        (_, RulesetStatus::FullyEnforced) => {
            Err("files are not bounded, because folders may be mounted later; signals and sockets are".to_owned())
        }
        (LandlockStatus::NotEnabled, _) => Err("Landlock is not enabled at boot".to_owned()),
        (LandlockStatus::NotImplemented, _) => Err("the kernel has no Landlock".to_owned()),
        (LandlockStatus::Available { effective_abi, .. }, _) => {
            Err(format!("the kernel has only version {} of Landlock", *effective_abi as u8))
        }
    }
}

/// Adds a rule for a folder. A folder that does not exist needs no rule.
fn allow(ruleset: landlock::RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<landlock::RulesetCreated, String> {
    let Ok(fd) = PathFd::new(path) else { return Ok(ruleset) };
    ruleset.add_rule(PathBeneath::new(fd, access)).map_err(|error| error.to_string())
}
