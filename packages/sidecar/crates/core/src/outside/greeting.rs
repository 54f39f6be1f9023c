//! The greeting of an edge process: its `Hello`, and the report on the wall around the process.
//!
//! The edge sends both messages before it reads a byte that a guest has caused. The sidecar sends
//! only its own `Hello` until then, so that an edge without a required wall gets nothing. Next:
//! `outgoing.rs`.

use super::link::Fault;
use coldframe_edge_link::{ToSidecar, VERSION, WallPart};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The greeting of one edge process.
pub(crate) struct Greeting {
    requires_walls: bool,
    said_hello: AtomicBool,
    walls: OnceLock<Vec<WallPart>>,
    is_over: AtomicBool,
}

impl Greeting {
    /// Makes the greeting of a process that has sent nothing.
    pub fn new(requires_walls: bool) -> Self {
        Self { requires_walls, said_hello: AtomicBool::new(false), walls: OnceLock::new(), is_over: AtomicBool::new(false) }
    }

    /// Returns whether the process has sent a complete greeting, which was accepted.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns the parts of the wall around the process. `None` before the report.
    pub fn walls(&self) -> Option<&[WallPart]> {
        self.walls.get().map(Vec::as_slice)
    }

    /// Receives a message of the greeting. Returns whether the greeting is complete.
    pub(super) fn receive(&self, message: ToSidecar<'_>) -> Result<bool, Fault> {
        match message {
            ToSidecar::Hello { version: VERSION } if !self.said_hello.swap(true, Ordering::Relaxed) => Ok(false),
            ToSidecar::Walls { parts } if self.said_hello.load(Ordering::Relaxed) => {
                let parts = self.walls.get_or_init(|| parts);
                if let Some(missing) = missing(parts).filter(|_| self.requires_walls) {
                    return Err(Fault::Walls(missing));
                }
                self.is_over.store(true, Ordering::Relaxed);
                Ok(true)
            }
            _ => Err(Fault::Greeting),
        }
    }
}

/// Returns a sentence about the missing parts. `None` if the wall is complete.
fn missing(parts: &[WallPart]) -> Option<String> {
    let part = |part: &WallPart| Some(format!("{} ({})", part.name, part.missing.as_ref()?));
    let missing: Vec<String> = parts.iter().filter_map(part).collect();
    match (parts, missing.as_slice()) {
        ([], _) => Some("the required wall around it is missing".to_owned()),
        (_, []) => None,
        _ => Some(format!("the system lacks parts of the required wall around it: {}", missing.join(", "))),
    }
}
