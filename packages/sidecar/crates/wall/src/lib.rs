//! The second wall: restrictions of the operating system on the sidecar process. The first wall is
//! WebAssembly. A guest that broke out of the first wall would still run in this process.
//!
//! ```text
//! SDK ──stdin: folders that the app mounts──► broker   forked before the wall closes
//!  │                                            ▲ │     makes the namespaces, opens folders
//!  │                                  a path ───┘ └──► a descriptor
//!  └──frames──────────────────────────────► sidecar    closes the wall before a guest's code runs
//! ```
//! [`Building::begin`] forks the broker, which makes the namespaces while the sidecar loads its
//! image. [`Building::close`] joins the namespaces and gives up all other rights, in this order:
//! namespaces, capabilities, limits, Landlock, dumps, system calls. The process must have one
//! thread until then, so that later threads inherit every restriction. [`Wall::finish`] waits for
//! the broker, which detaches the files of the host machine meanwhile.
//!
//! A part that the system lacks does not stop the start. [`Walls`] has a row for each part.
//!
//! The edge process has a smaller wall of its own (`edge.rs`).
//!
//! Next: `broker.rs`, `edge_starter.rs`, `namespaces.rs`, `rights.rs`, `ruleset.rs`, `filter.rs`.

mod broker;
mod client;
mod edge;
mod edge_starter;
mod filter;
mod folders;
mod grants;
mod mount;
mod namespaces;
mod program;
mod rights;
mod ruleset;
#[cfg(feature = "stand-in")]
pub mod stand_in;
mod walls;
mod wire;

pub use edge::close_edge;
pub use walls::{Part, PartName, Walls};

use crate::client::Broker;
use std::io;
use std::path::PathBuf;

/// The folders with which the wall is built.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The folder of the image, for reading. Absolute.
    pub image: PathBuf,
    /// The folder of Python, for reading. Absolute. `None` if Python is not installed.
    pub python: Option<PathBuf>,
    /// The folder of snapshots on disk. Absolute. The folder is created if it is missing, because a
    /// folder that appears later could not be reached.
    pub store: Option<PathBuf>,
    /// The only folders that the embedder will mount. `None` if the embedder may mount further
    /// folders later.
    pub roots: Option<Vec<PathBuf>>,
    /// The program that opens connections out of runtimes. Absolute. No request can name another
    /// program.
    pub edge: Option<PathBuf>,
}

/// A wall that is not closed yet.
pub struct Building {
    config: Config,
    broker: io::Result<Broker>,
}

impl Building {
    /// Forks the broker. The process must have one thread. Descriptor 0 is the channel of grants
    /// (`grants.rs`).
    pub fn begin(config: Config) -> Self {
        let broker = Broker::fork(&config, true);
        Self { config, broker }
    }

    /// Closes the wall. The process must have one thread. The caller must call [`Wall::finish`]
    /// before a guest's code runs.
    pub fn close(self) -> Wall {
        let mut walls = Walls::default();
        let config = &self.config;
        // The first call reads a file that cannot be opened later.
        coldframe_sys::max_mappings();
        let joined = self.broker.map_err(|error| error.to_string()).and_then(|broker| Ok((namespaces::join(&broker)?, broker)));
        let (made, broker) = match joined {
            Ok((made, broker)) => (made, Ok(broker)),
            Err(reason) => (namespaces::all_missing(&reason), Broker::fork(config, false)),
        };
        walls.extend(made);
        rights::drop_stdin();
        let has_empty_root = walls.stands(PartName::MountNamespace);
        walls.push(PartName::NoNewPrivileges, rights::no_new_privileges());
        walls.push(PartName::Capabilities, rights::drop_capabilities());
        walls.push(PartName::Limits, rights::limit_resources(walls.stands(PartName::UserNamespace)));
        walls.push(PartName::Landlock, ruleset::restrict(config, has_empty_root));
        walls.push(PartName::NotDumpable, rights::forbid_dumps());
        walls.push(PartName::Seccomp, filter::install(&filter::SIDECAR));
        Wall { walls, broker: Some(broker) }
    }
}

/// A closed wall, or no wall.
#[derive(Default)]
pub struct Wall {
    walls: Walls,
    broker: Option<io::Result<Broker>>,
}

impl Wall {
    /// Returns the report on the parts.
    pub fn report(&self) -> &Walls {
        &self.walls
    }

    /// Waits until the files of the host machine have no path in the mount namespace. After an
    /// error, the process must end.
    pub fn finish(self) -> Result<(), String> {
        let Some(broker) = self.broker else { return Ok(()) };
        if let (true, Ok(broker)) = (self.walls.stands(PartName::MountNamespace), &broker) {
            namespaces::wait_until_detached(broker)?;
        }
        client::install(broker);
        Ok(())
    }
}
