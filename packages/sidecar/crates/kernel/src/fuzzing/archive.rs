//! The target `archive`: a tar archive that is unpacked in pieces.
//!
//! The first byte chooses the size of the pieces, and whether the target corrects the checksums of
//! the headers. An archive changes nothing outside its directory. An unpacked tree can be packed,
//! and the packed archive unpacks to an equal tree.

use crate::fs::EmbedderFiles;
use crate::fs::reports::FileType;
use crate::limits::Limits;
use crate::{Archive, Kernel};
use coldframe_error::Error;
use tar::Header;

const BLOCK: usize = 512;
/// The largest file that the comparison of two trees reads.
const MOST_COMPARED: u64 = 1 << 20;

fn kernel() -> Kernel {
    Kernel::new(&Limits { filesystem_bytes: 1 << 20, inodes: 300, ..Limits::default() })
}

/// Corrects the checksum of each header, as far as the sizes of the entries lead to headers.
fn correct(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(block) = bytes.get_mut(at..at + BLOCK) {
        let mut header = Header::new_old();
        header.as_mut_bytes().copy_from_slice(block);
        header.set_cksum();
        if block.iter().any(|byte| *byte != 0) {
            block.copy_from_slice(header.as_bytes());
        }
        let Ok(size) = header.entry_size() else { return };
        let Ok(size) = usize::try_from(size) else { return };
        let Some(next) = size.checked_next_multiple_of(BLOCK).and_then(|size| size.checked_add(at + BLOCK)) else { return };
        at = next;
    }
}

fn unpack(embedder: &EmbedderFiles<'_>, path: &str, bytes: &[u8], piece: usize) -> Result<(), Error> {
    let mut archive: Archive = embedder.import(path, true)?;
    let pushed = bytes.chunks(piece).try_for_each(|piece| embedder.write_archive(&mut archive, piece));
    let ended = pushed.and_then(|()| embedder.finish_archive(&mut archive));
    embedder.drop_archive(&mut archive);
    ended
}

fn pack(embedder: &EmbedderFiles<'_>, path: &str) -> Result<Vec<u8>, Error> {
    let (mut archive, mut bytes) = (embedder.export(path)?, Vec::new());
    loop {
        let piece = embedder.read_archive(&mut archive, 10_000)?;
        if piece.is_empty() {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&piece);
    }
}

/// Adds a line for each name below `path`. Returns false if the embedder cannot name a file,
/// because the name is not UTF-8.
fn describe(embedder: &EmbedderFiles<'_>, path: &str, lines: &mut Vec<String>) -> bool {
    for entry in embedder.list(path).expect("a directory can be listed") {
        if entry.name.contains('\u{fffd}') {
            return false;
        }
        let full = format!("{path}/{}", entry.name);
        let stat = embedder.stat(&full, false).expect("a listed file exists");
        let what = match entry.kind {
            FileType::Link => embedder.readlink(&full).expect("a link has a target"),
            FileType::File if stat.size <= MOST_COMPARED => {
                let (bytes, _) = embedder.read(&full, 0, 2 << 20).expect("the embedder may read");
                let sum = bytes.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
                format!("{} {sum:x} {}", stat.size, stat.links)
            }
            FileType::File => stat.size.to_string(),
            _ => String::new(),
        };
        let mtime = if entry.kind == FileType::Link { 0 } else { stat.mtime_ns };
        lines.push(format!("{:?} {:o} {mtime} {full} {what}", entry.kind, stat.mode));
        if entry.kind == FileType::Directory && !describe(embedder, &full, lines) {
            return false;
        }
    }
    true
}

/// Unpacks an archive.
///
/// # Panics
/// Panics if a file outside the directory has changed, if space stays occupied, or if the packed
/// tree unpacks to another tree.
pub fn archive(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let mut bytes = bytes.to_vec();
    if choice & 1 == 0 {
        correct(&mut bytes);
    }
    let kernel = kernel();
    let embedder = kernel.embedder_files();
    let names = |path: &str| embedder.list(path).expect("listed").into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    let before = ["/", "/etc", "/tmp", "/workspace"].map(names);
    let unpacked = unpack(&embedder, "/tmp/t", &bytes, 1 + usize::from(choice >> 1) * 37);
    let mut after = ["/", "/etc", "/tmp", "/workspace"].map(names);
    after[2].retain(|name| name != "t");
    assert_eq!(after, before, "names outside the directory");
    let mut lines = Vec::new();
    if unpacked.is_ok() && describe(&embedder, "/tmp/t", &mut lines) {
        compare(&pack(&embedder, "/tmp/t").expect("an unpacked tree can be packed"), &lines);
    }
    embedder.remove("/tmp/t", true).expect("the directory can be removed");
    let used = kernel.files.lock().used;
    assert_eq!((used.bytes, used.inodes), (0, 0), "space that stays occupied");
}

/// Compares the tree that `packed` unpacks to with the described tree.
fn compare(packed: &[u8], lines: &[String]) {
    let kernel = kernel();
    let embedder = kernel.embedder_files();
    unpack(&embedder, "/tmp/t", packed, 4_096).expect("an exported archive can be unpacked");
    let mut copied = Vec::new();
    describe(&embedder, "/tmp/t", &mut copied);
    assert_eq!(copied, lines, "the unpacked export");
}
