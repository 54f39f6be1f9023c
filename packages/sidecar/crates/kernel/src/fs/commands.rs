//! Commands that the embedder adds to a runtime. A command is an executable file in
//! `/usr/local/bin` that contains magic bytes and names a binding. The guest cannot change a
//! command, and a command does not replace another file. Next: `../bindings.rs`, which adds
//! commands.

use super::content::Content;
use super::embedder::EmbedderFiles;
use super::node::{Body, Ino};
use super::tree::FileSystem;
use super::user::{Owner, User};
use super::walk::{FinalLink, MemoryEnd, PathEnd};
use crate::processes::MAGIC;
use coldframe_error::Errno;
use coldframe_error::Error;

/// The directory of the embedder's commands.
const FOLDER: &str = "/usr/local/bin";
/// The directories of the built-in commands. The embedder's commands must not have the names of
/// files in these directories.
const OTHERS: &[&str] = &["/usr/bin", "/bin"];

/// The file of a command that [`EmbedderFiles::exchange_commands`] writes.
pub(crate) struct CommandFile<'a> {
    /// The command's name.
    pub name: &'a str,
    /// The content of the file.
    pub head: Vec<u8>,
    /// Whether the command exists. Its file then gets the new content.
    pub exists: bool,
}

/// The step that undoes the write of a command's file.
enum Undo {
    Remove,
    Write(Content),
}

impl EmbedderFiles<'_> {
    /// Writes the files `written`, and then removes the files of the commands `dropped`.
    ///
    /// Changes nothing if a file cannot be written. Fails with `EEXIST` if a file or another
    /// command has the name, and with `EXDEV` if the directory is in a mount. If another file has
    /// replaced a dropped command, that file stays.
    pub(crate) fn exchange_commands<'a>(
        &self,
        written: &[CommandFile<'a>],
        dropped: impl Iterator<Item = &'a str>,
    ) -> Result<(), Error> {
        // The lock is held until the end, so that no program uses the space that an undo needs.
        let mut tree = self.view.lock();
        let mut undos = Vec::new();
        for command in written {
            match write_command(&mut tree, command) {
                Ok(undo) => undos.push((command.name, undo)),
                Err(errno) => {
                    undos.into_iter().rev().for_each(|(name, undo)| undo.run(&mut tree, name));
                    drop(tree);
                    return self.explained("link", &path_of(command.name), |_| Err(errno));
                }
            }
        }
        dropped.for_each(|name| drop_command(&mut tree, name));
        Ok(())
    }
}

impl Undo {
    fn run(self, tree: &mut FileSystem, name: &str) {
        match self {
            Self::Remove => drop_command(tree, name),
            Self::Write(content) => {
                if let Ok(Some(ino)) = in_memory(tree, path_of(name).as_bytes()).map(|end| end.node) {
                    let _ = tree.replace(ino, content);
                }
            }
        }
    }
}

/// Creates or changes the file of a command.
fn write_command(tree: &mut FileSystem, command: &CommandFile<'_>) -> Result<Undo, Errno> {
    for folder in OTHERS {
        let is_taken = match tree.walk(&User::EMBEDDER, None, format!("{folder}/{}", command.name).as_bytes(), FinalLink::Stay) {
            Ok(PathEnd::Memory(end)) => end.node.is_some(),
            Ok(PathEnd::Mount(end)) => end.stat.is_some(),
            Err(_) => false,
        };
        if is_taken {
            return Err(Errno::EEXIST);
        }
    }
    let end = in_memory(tree, path_of(command.name).as_bytes())?;
    let content = Content::of(&command.head);
    match end.node.filter(|ino| command.exists && is_command(tree, *ino)) {
        Some(ino) => tree.replace(ino, content).map(Undo::Write),
        None => {
            tree.create(&User::Embedder(Owner::ROOT), &end, Body::File(content), 0o755)?;
            Ok(Undo::Remove)
        }
    }
}

/// Removes the command's file. If another file has replaced the command, that file stays.
fn drop_command(tree: &mut FileSystem, name: &str) {
    let Ok(end) = in_memory(tree, path_of(name).as_bytes()) else { return };
    if end.node.is_some_and(|ino| is_command(tree, ino)) {
        let _ = tree.unlink(&User::EMBEDDER, &end);
    }
}

/// Returns whether a file has the content of a command.
fn is_command(tree: &FileSystem, ino: Ino) -> bool {
    let mut head = [0; MAGIC.len()];
    tree.content(ino).is_ok_and(|content| content.read(0, &mut head).is_ok() && head == MAGIC)
}

fn path_of(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Resolves a path whose last name is in memory. Fails with `EXDEV` if the last name is in a mount,
/// because commands are never written to the host machine.
fn in_memory(tree: &FileSystem, path: &[u8]) -> Result<MemoryEnd, Errno> {
    match tree.walk(&User::EMBEDDER, None, path, FinalLink::Name)? {
        PathEnd::Memory(end) => Ok(end),
        PathEnd::Mount(_) => Err(Errno::EXDEV),
    }
}
