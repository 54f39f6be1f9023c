//! Tests: against ourselves, against the real `tar`, and against archives that nobody means well with.

mod hostile;
mod real;
mod round_trip;

use super::super::embedder::EmbedderFiles;
use super::Archive;
use crate::Kernel;
use crate::fs::reports::FileType;
use crate::limits::Limits;
use coldframe_error::Error;

fn kernel() -> Kernel {
    Kernel::new(&Limits { filesystem_bytes: 1 << 30, inodes: 100_000, ..Limits::default() })
}

/// Unpacks into `path`, in pieces of `piece` bytes.
fn unpack(outside: &EmbedderFiles<'_>, path: &str, bytes: &[u8], piece: usize) -> Result<(), Error> {
    let mut archive: Archive = outside.import(path)?;
    let pushed = bytes.chunks(piece).try_for_each(|piece| outside.write_archive(&mut archive, piece));
    let ended = pushed.and_then(|()| outside.finish_archive(&mut archive));
    outside.drop_archive(&mut archive);
    ended
}

fn pack(outside: &EmbedderFiles<'_>, path: &str) -> Vec<u8> {
    let (mut archive, mut bytes) = (outside.export(path).expect("it is there"), Vec::new());
    loop {
        let piece = outside.read_archive(&mut archive, 10_000).expect("read");
        if piece.is_empty() {
            return bytes;
        }
        bytes.extend_from_slice(&piece);
    }
}

/// Everything below `path`: a line for each name, with what can be seen of it.
fn state(outside: &EmbedderFiles<'_>, path: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in outside.list(path).expect("listed") {
        let full = format!("{}/{}", path.trim_end_matches('/'), entry.name);
        let stat = outside.stat(&full, false).expect("stat");
        let times = if entry.kind == FileType::Link { 0 } else { stat.mtime_ns };
        let what = match entry.kind {
            FileType::Link => outside.readlink(&full).expect("a link"),
            FileType::File => {
                let (bytes, size) = outside.read(&full, 0, 4 << 20).expect("read");
                let sum = bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
                format!("{size} {sum:x} links {}", stat.links)
            }
            _ => String::new(),
        };
        lines.push(format!("{:?} {:o} {times} {full} {what}", entry.kind, stat.mode));
        if entry.kind == FileType::Directory {
            lines.extend(state(outside, &full));
        }
    }
    lines
}
