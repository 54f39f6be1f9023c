//! The messages of the golden frames about user attributes of files, and the barrier of a watch.
//! `mod.rs` has the macros.

use coldframe_ids::HandleId;
use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, Kind, encode, reader};

use super::{BYTES, Case, runtime};

pub fn add(all: &mut Vec<Case>) {
    let path = "/workspace/datei ä.txt";
    sdk!(
        all,
        "file-watch",
        FileWatch,
        9,
        FileWatch,
        FileWatch { runtime: runtime(1), path, recursive: Some(true), typed: Some(true) }
    );
    sdk!(all, "file-attribute-set", FileAttributeSet, 9, FileAttributeSet, {
        FileAttributeSet { runtime: runtime(1), path, name: "user.é", value: Some(BYTES) }
    });
    sdk!(all, "file-attribute-remove", FileAttributeSet, 9, FileAttributeSet, {
        FileAttributeSet { runtime: runtime(1), path, name: "user.a", value: None }
    });
    sdk!(all, "file-attributes", FileAttributes, 9, FileAttributes, FileAttributes { runtime: runtime(1), path });
    sdk!(all, "file-drain", FileDrain, 9, FileDrain, FileDrain { runtime: runtime(1), handle: HandleId::new(5) });
}
