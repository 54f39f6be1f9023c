//! Commands that the embedder adds to a runtime. A command is an executable file in
//! `/usr/local/bin` that contains magic bytes and names a binding. The guest cannot change a
//! command, and a command does not replace another file. Next: `../bindings.rs`, which adds
//! commands.

use super::content::Content;
use super::embedder::EmbedderFiles;
use super::node::Body;
use super::tree::{FileSystem, User};
use super::walk::{FinalLink, MemoryEnd, PathEnd};
use crate::processes::MAGIC;
use coldframe_error::Errno;
use coldframe_error::Error;

/// The directory of the embedder's commands.
const FOLDER: &str = "/usr/local/bin";
/// The directories of the built-in commands. The embedder's commands must not have the names of
/// files in these directories.
const OTHERS: &[&str] = &["/usr/bin", "/bin"];

impl EmbedderFiles<'_> {
    /// Creates the file of the command `name` with the content `head`. Fails with `EEXIST` if a
    /// file or another command has the name, and with `EXDEV` if the directory is in a mount.
    pub(crate) fn put_command(&self, name: &str, head: &[u8]) -> Result<(), Error> {
        let path = format!("{FOLDER}/{name}");
        self.explained("link", &path, |path| {
            let mut tree = self.view.lock();
            for folder in OTHERS {
                let is_taken = match tree.walk(User::Host, None, format!("{folder}/{name}").as_bytes(), FinalLink::Stay) {
                    Ok(PathEnd::Memory(end)) => end.node.is_some(),
                    Ok(PathEnd::Mount(end)) => end.stat.is_some(),
                    Err(_) => false,
                };
                if is_taken {
                    return Err(Errno::EEXIST);
                }
            }
            let end = in_memory(&tree, path)?;
            let ino = tree.create(User::Host, &end, Body::File(Content::of(head)), 0o755)?;
            let meta = &mut tree.node_mut(ino)?.meta;
            (meta.uid, meta.gid) = (0, 0);
            Ok(())
        })
    }

    /// Removes the command's file. If another file has replaced the command, that file stays.
    pub(crate) fn drop_command(&self, name: &str) {
        let mut tree = self.view.lock();
        let Ok(end) = in_memory(&tree, format!("{FOLDER}/{name}").as_bytes()) else { return };
        let mut head = [0; MAGIC.len()];
        let is_ours = end.node.and_then(|ino| tree.content(ino).ok()).is_some_and(|content| {
            content.read(0, &mut head);
            head == MAGIC
        });
        if is_ours {
            let _ = tree.unlink(User::Host, &end);
        }
    }
}

/// Resolves a path whose last name is in memory. Fails with `EXDEV` if the last name is in a mount,
/// because commands are never written to the host machine.
fn in_memory(tree: &FileSystem, path: &[u8]) -> Result<MemoryEnd, Errno> {
    match tree.walk(User::Host, None, path, FinalLink::Name)? {
        PathEnd::Memory(end) => Ok(end),
        PathEnd::Mount(_) => Err(Errno::EXDEV),
    }
}
