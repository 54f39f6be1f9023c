//! The target `kernel-snapshot`: the bytes of a kernel snapshot after its version and the digest of
//! the standard files, which the target adds.
//!
//! A snapshot that passes the checks can be restored or is refused with a code. The programs of a
//! restored kernel can use every descriptor, and the kernel can be stored again.

use super::world::World;
use crate::snapshot::{KernelSnapshot, file_head};
use coldframe_abi::system_calls::{FileCall, SocketCall};
use coldframe_error::Error;

/// The codes of errors that a snapshot from any source may cause.
const KNOWN: [&str; 4] = ["ERR_SNAPSHOT_DAMAGED", "ERR_SNAPSHOT_FOREIGN", "ERR_RESOURCE_EXHAUSTED", "ERR_SNAPSHOT_LACKS"];

fn check_code(error: &Error) {
    assert!(KNOWN.contains(&error.code()), "{error}");
}

/// Uses each descriptor of each program.
fn use_descriptors(world: &World) {
    let calls = [
        FileCall::Fstat.number(),
        FileCall::Read.number(),
        FileCall::Write.number(),
        FileCall::Readdir.number(),
        SocketCall::Accept.number(),
        SocketCall::Collect.number(),
        SocketCall::Read.number(),
        SocketCall::Close.number(),
        FileCall::Close.number(),
    ];
    for at in 0..world.programs.len() {
        let open = world.programs[at].process().files.descriptors.lock().open();
        for fd in open {
            for number in calls {
                let mut memory = [0; 256];
                // A descriptor of another kind refuses the call.
                let _ = world.call(at, number, [fd.answer(), 0, 200, -1, 0, 0, 0, 0], &mut memory);
            }
        }
        drop(world.programs[at].process().operations.take());
    }
}

/// Decodes, restores, uses and stores a snapshot.
///
/// # Panics
/// Panics if a decoded snapshot breaks an invariant of the kernel.
pub fn snapshot(data: &[u8]) {
    let restored = KernelSnapshot::decode(&[&file_head()[..], data].concat()).and_then(|saved| World::restore(&saved));
    match restored {
        Ok(mut world) => {
            use_descriptors(&world);
            world.end_killed();
            let bytes = world.snapshot().encode().expect("a restored kernel can be encoded");
            if let Err(error) = KernelSnapshot::decode(&bytes) {
                panic!("the bytes of a restored kernel: {error}");
            }
            world.finish();
        }
        Err(error) => check_code(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Writes the seeds of the target: a kernel with files, sockets, a watch, a digest and a child.
    #[test]
    #[ignore = "writes files: cargo test -p coldframe-kernel --lib writes_the_seeds -- --ignored"]
    fn writes_the_seeds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/kernel-snapshot");
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut world = World::new();
        let write = |name: &str, world: &World| {
            let bytes = world.snapshot().encode().expect("encoded");
            std::fs::write(folder.join(name), &bytes[file_head().len()..]).expect("written");
        };
        write("fresh", &world);
        let text = |call: u32, text: &str, rest: [i64; 6]| {
            let mut memory = text.as_bytes().to_vec();
            memory.resize(256, 0);
            let [a, b, c, d, e, f] = rest;
            let _ = world.call(0, call, [0, text.len() as i64, a, b, c, d, e, f], &mut memory);
        };
        text(FileCall::Mkdir.number(), "/tmp/d", [0o755, 0, 0, 0, 0, 0]);
        text(FileCall::Open.number(), "/tmp/d/f", [0o102, 0o644, 0, 0, 0, 0]);
        text(FileCall::Symlink.number(), "/tmp/d/fl", [0, 7, 0, 0, 0, 0]);
        text(FileCall::Watch.number(), "/tmp", [1, 0, 0, 0, 0, 0]);
        text(FileCall::Unlink.number(), "/etc/hostname", [0; 6]);
        let mut memory = vec![b'x'; 256];
        for (number, integers) in [
            (FileCall::Write.number(), [3, 0, 100, -1, 0, 0, 0, 0]),
            (SocketCall::Pair.number(), [0, 8, 0, 0, 0, 0, 0, 0]),
            (SocketCall::Socket.number(), [2, 1, 0, 0, 0, 0, 0, 0]),
            (coldframe_abi::system_calls::CryptographyCall::HashOpen.number(), [4, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            let _ = world.call(0, number, integers, &mut memory);
        }
        write("busy", &world);
        world.fork(0);
        write("family", &world);
        world.finish();
    }
}
