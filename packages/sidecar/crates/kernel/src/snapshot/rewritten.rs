//! Changes to the encoded files of a snapshot, for tests of the files. The changed bytes are
//! decoded and checked like the bytes of a file.

use super::KernelSnapshot;
use crate::descriptors::DescriptionsSnapshot;
use crate::fs::{FilesSnapshot, ProcessFilesSnapshot};

impl KernelSnapshot {
    /// Encodes the files, the descriptions and each process's files, calls `change` with the bytes,
    /// and decodes the bytes that `change` returns.
    pub(crate) fn rewritten(mut self, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Result<Self, &'static str> {
        let own: Vec<&ProcessFilesSnapshot> = self.processes.iter().map(|process| &process.files).collect();
        let bytes = change(postcard::to_stdvec(&(&self.files, &self.descriptions, &own)).expect("an encoded snapshot"));
        let read: (FilesSnapshot, DescriptionsSnapshot, Vec<ProcessFilesSnapshot>) =
            postcard::from_bytes(&bytes).map_err(|_| "no valid snapshot")?;
        let (files, descriptions, own) = read;
        files.check()?;
        descriptions.check(&files)?;
        if own.len() != self.processes.len() {
            return Err("other processes");
        }
        for (process, own) in self.processes.iter_mut().zip(own) {
            own.check(&files, descriptions.len())?;
            process.files = own;
        }
        (self.files, self.descriptions) = (files, descriptions);
        Ok(self)
    }

    /// Calls `change` with the snapshot's files. Returns the changed snapshot.
    pub(crate) fn with_files(mut self, change: impl FnOnce(&mut FilesSnapshot)) -> Self {
        change(&mut self.files);
        self
    }
}
