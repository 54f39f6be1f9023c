//! The wall around the process (`crates/wall`): its options, its report and its requirement.

use std::borrow::Cow;

use coldframe_protocol::messages::{Details, Fact, Failure, WallPart};
use coldframe_wall::{Building, Config, Walls};

use crate::arguments::{Arguments, WallMode};

/// Begins to build the wall. Returns `None` if the wall is off.
pub fn begin(arguments: &Arguments) -> Option<Building> {
    let config = Config {
        image: arguments.core.image_dir.clone(),
        python: arguments.core.python_dir.clone(),
        store: arguments.store.directory.clone(),
        roots: arguments.mount_roots.clone(),
        edge: Some(arguments.core.edge.clone()),
    };
    (arguments.walls != WallMode::Off).then(|| Building::begin(config))
}

/// Fails if the wall is required and a part is missing.
pub fn check(mode: WallMode, walls: &Walls) -> Result<(), Failure<'static>> {
    let missing = walls.missing();
    if mode != WallMode::Required || missing.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> =
        walls.parts.iter().filter_map(|part| Some(format!("{} ({})", part.name.text(), part.missing.as_ref()?))).collect();
    let message = format!("The system lacks parts of the wall around the sidecar: {}", reasons.join(", "));
    let details = Details(vec![(Cow::Borrowed("missing"), Fact::Text(missing.join(",")))]);
    Err(Failure { code: Cow::Borrowed("ERR_WALLS_MISSING"), message: Cow::Owned(message), details })
}

/// Returns the report for the embedder.
pub fn report(walls: &Walls) -> Vec<WallPart<'_>> {
    let part = |part: &'_ coldframe_wall::Part| (part.name.text(), part.missing.clone());
    walls.parts.iter().map(part).map(|(name, missing)| WallPart { name, missing: missing.map(Cow::Owned) }).collect()
}

/// Makes the attempts of an escaped guest instead of serving.
#[cfg(feature = "stand-in")]
pub fn stand_in(arguments: &Arguments, wall: coldframe_wall::Wall, folder: &std::path::Path, only: Option<&str>) -> ! {
    use coldframe_wall::stand_in::{Stage, run};
    let app = rustix::process::getppid().map_or(0, |app| app.as_raw_nonzero().get().into());
    let walled = !wall.report().parts.is_empty();
    if let Err(reason) = wall.finish() {
        eprintln!("{reason}");
        crate::hardening::exit_process(1)
    }
    run(&Stage { app, folder: folder.to_owned(), image: arguments.core.image_dir.clone() }, only, walled);
    crate::hardening::exit_process(0)
}
