//! Tests of archives: round trips, exchange with the real `tar`, and hostile archives.

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

/// Unpacks `bytes` into `path`, in pieces of `piece` bytes.
fn unpack(embedder: &EmbedderFiles<'_>, path: &str, bytes: &[u8], piece: usize) -> Result<(), Error> {
    let mut archive: Archive = embedder.import(path, false)?;
    let pushed = bytes.chunks(piece).try_for_each(|piece| embedder.write_archive(&mut archive, piece));
    let ended = pushed.and_then(|()| embedder.finish_archive(&mut archive));
    embedder.drop_archive(&mut archive);
    ended
}

fn pack(embedder: &EmbedderFiles<'_>, path: &str) -> Vec<u8> {
    let (mut archive, mut bytes) = (embedder.export(path).expect("the directory exists"), Vec::new());
    loop {
        let piece = embedder.read_archive(&mut archive, 10_000).expect("read");
        if piece.is_empty() {
            return bytes;
        }
        bytes.extend_from_slice(&piece);
    }
}

/// Returns a line for each name below `path`, with the visible properties of the file.
fn state(embedder: &EmbedderFiles<'_>, path: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in embedder.list(path).expect("listed") {
        let full = format!("{}/{}", path.trim_end_matches('/'), entry.name);
        let stat = embedder.stat(&full, false).expect("stat");
        let times = if entry.kind == FileType::Link { 0 } else { stat.mtime_ns };
        let what = match entry.kind {
            FileType::Link => embedder.readlink(&full).expect("a link"),
            FileType::File => {
                let (bytes, size) = embedder.read(&full, 0, 4 << 20).expect("read");
                let sum = bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
                format!("{size} {sum:x} links {}", stat.links)
            }
            _ => String::new(),
        };
        lines.push(format!("{:?} {:o} {times} {full} {what}", entry.kind, stat.mode));
        if entry.kind == FileType::Directory {
            lines.extend(state(embedder, &full));
        }
    }
    lines
}
