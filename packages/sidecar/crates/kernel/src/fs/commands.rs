//! Commands that the caller outside gives a runtime: executable files in `/usr/local/bin` that name one of our programs. The guest cannot change
//! them, and they take nobody's place. Next: `kernel/bindings.rs`, what they are for.

use super::content::Content;
use super::embedder::EmbedderFiles;
use super::node::Body;
use super::tree::{FileSystem, User};
use super::walk::{Last, Side, Spot};
use crate::processes::MAGIC;
use coldframe_error::Errno;
use coldframe_error::Error;

/// Where they are, and where else commands are that they must not take the place of.
const FOLDER: &str = "/usr/local/bin";
const OTHERS: &[&str] = &["/usr/bin", "/bin"];

impl EmbedderFiles<'_> {
    /// Makes the command `name`, a file that says `head`. `EEXIST` when there is a command of that name; `EXDEV` when the folder is the host's.
    pub(crate) fn put_command(&self, name: &str, head: &[u8]) -> Result<(), Error> {
        let path = format!("{FOLDER}/{name}");
        self.explained("link", &path, |path| {
            let mut tree = self.view.lock();
            for folder in OTHERS {
                let is_taken = match tree.walk(User::Host, None, format!("{folder}/{name}").as_bytes(), Last::Stay) {
                    Ok(Side::Memory(spot)) => spot.node.is_some(),
                    Ok(Side::Host(spot)) => spot.stat.is_some(),
                    Err(_) => false,
                };
                if is_taken {
                    return Err(Errno::EEXIST);
                }
            }
            let spot = in_memory(&tree, path)?;
            let ino = tree.create(User::Host, &spot, Body::File(Content::of(head)), 0o755)?;
            let meta = &mut tree.node_mut(ino)?.meta;
            (meta.uid, meta.gid) = (0, 0);
            Ok(())
        })
    }

    /// Takes the command away, unless something else stands in its place.
    pub(crate) fn drop_command(&self, name: &str) {
        let mut tree = self.view.lock();
        let Ok(spot) = in_memory(&tree, format!("{FOLDER}/{name}").as_bytes()) else { return };
        let mut head = [0; MAGIC.len()];
        let is_ours = spot.node.and_then(|ino| tree.content(ino).ok()).is_some_and(|content| {
            content.read(0, &mut head);
            head == MAGIC
        });
        if is_ours {
            let _ = tree.unlink(User::Host, &spot);
        }
    }
}

/// Where the path ends, if that is in memory: nothing of this is written to the host.
fn in_memory(tree: &FileSystem, path: &[u8]) -> Result<Spot, Errno> {
    match tree.walk(User::Host, None, path, Last::Name)? {
        Side::Memory(spot) => Ok(spot),
        Side::Host(_) => Err(Errno::EXDEV),
    }
}
