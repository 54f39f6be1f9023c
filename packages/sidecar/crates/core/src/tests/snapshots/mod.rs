//! Saved VMs with the real guest: what runs goes on in every copy, and no two copies agree on what must be theirs alone.
//!
//! The guest is driven here turn by turn, as `program/run.rs` does it, because what is under test lies below the kernel. `guest.rs` is the driver.

mod costs;
mod files;
mod guest;
mod restores;
mod runtimes;
mod trees;

use super::*;
use guest::Guest;
