//! The embedder's archives. The embedder reads an export and writes an import, piece by piece.
//! Next: `../archive/`.

use super::super::archive::{Archive, Export, Failed, Import, Owners};
use super::super::guard::RequestedOperations;
use super::super::walk::{FinalLink, PathEnd};
use super::EmbedderFiles;
use crate::permissions::operations::files;
use coldframe_error::Errno;
use coldframe_error::Error;

impl EmbedderFiles<'_> {
    /// Starts an archive of the files at `path`. The embedder reads the archive.
    pub fn export(&self, path: &str) -> Result<Archive, Error> {
        let export = self.explained("scandir", path, |path| Export::new(&self.view, path))?;
        Ok(Archive::Export(Box::new(export)))
    }

    /// Starts an archive that the embedder writes. The entries are unpacked into the directory
    /// `path`. A missing directory is created. With `keeps_owners`, each file has the owner in the
    /// archive.
    pub fn import(&self, path: &str, keeps_owners: bool) -> Result<Archive, Error> {
        let owners = Owners { all: self.view.user.owner(), kept: keeps_owners };
        let base = self.explained("mkdir", path, |path| {
            let mut tree = self.view.lock();
            tree.make_directories(&self.view.user, path)?;
            let is_directory = match self.view.walk(&tree, path, FinalLink::Follow, RequestedOperations::only(files::STAT))? {
                PathEnd::Memory(end) => tree.directory(end.existing()?).is_ok(),
                PathEnd::Mount(end) => end.stat.is_some_and(|stat| stat.kind == super::Type::Directory),
            };
            drop(tree);
            if is_directory { self.view.real_path(path) } else { Err(Errno::ENOTDIR) }
        })?;
        Ok(Archive::Import(Box::new(Import::new(&base, owners))))
    }

    /// Reads at most `most` of the next bytes of an archive. Returns an empty vector at the
    /// archive's end.
    pub fn read_archive(&self, archive: &mut Archive, most: usize) -> Result<Vec<u8>, Error> {
        let Archive::Export(export) = archive else { return Err(wrong_way("read", "written")) };
        export.pull(&self.view, most).map_err(|(errno, path)| self.of(errno, "read", &path))
    }

    /// Unpacks the next bytes of an archive.
    pub fn write_archive(&self, archive: &mut Archive, bytes: &[u8]) -> Result<(), Error> {
        let Archive::Import(import) = archive else { return Err(wrong_way("written", "read")) };
        import.push(&self.view, bytes).map_err(|failed| self.of_failed(failed))
    }

    /// Ends an archive that the embedder writes. Fails if the archive is incomplete.
    pub fn finish_archive(&self, archive: &mut Archive) -> Result<(), Error> {
        let Archive::Import(import) = archive else { return Ok(()) };
        import.finish(&self.view).map_err(|failed| self.of_failed(failed))
    }

    /// Abandons an archive: closes the open file of an export, or removes the incomplete file of an
    /// import.
    pub fn drop_archive(&self, archive: &mut Archive) {
        match archive {
            Archive::Export(export) => export.give_up(&self.view),
            Archive::Import(import) => import.give_up(&self.view),
        }
    }

    fn of_failed(&self, failed: Failed) -> Error {
        match failed {
            Failed::File(errno, call, path) => self.of(errno, call, &path),
            Failed::Archive(refusal) => Error::Archive { entry: refusal.entry, reason: refusal.reason },
        }
    }

    fn of(&self, errno: Errno, call: &'static str, path: &[u8]) -> Error {
        self.error(errno, call, &String::from_utf8_lossy(path))
    }
}

fn wrong_way(expected: &str, received: &str) -> Error {
    Error::InvalidRequest {
        what: "handle".to_owned(),
        expected: format!("an archive to be {expected}"),
        received: format!("an archive to be {received}"),
    }
}
