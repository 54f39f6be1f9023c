//! Tests of VM snapshots with the real guest: running work continues in every clone, and clones
//! share no random state. The tests drive the guest turn by turn, as `program/run.rs` does, because
//! the tested code is below the kernel. `guest.rs` is the driver.

mod costs;
mod files;
mod guest;
mod restores;
mod runtimes;
mod trees;

use super::*;
use guest::Guest;
