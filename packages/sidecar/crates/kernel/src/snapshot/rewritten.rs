//! For tests of the files alone: a value whose files have been bytes on the way.

use super::KernelSnapshot;
use crate::descriptors::DescriptionsSnapshot;
use crate::fs::{FilesSnapshot, ProcessFilesSnapshot};

impl KernelSnapshot {
    /// The same with what `change` has made of the bytes of its files, of what is open, and of what the processes have of it.
    pub(crate) fn rewritten(mut self, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Result<Self, &'static str> {
        let own: Vec<&ProcessFilesSnapshot> = self.processes.iter().map(|process| &process.files).collect();
        let bytes = change(postcard::to_stdvec(&(&self.files, &self.graph, &own)).expect("it can be written"));
        let read: (FilesSnapshot, DescriptionsSnapshot, Vec<ProcessFilesSnapshot>) =
            postcard::from_bytes(&bytes).map_err(|_| "no such value")?;
        let (files, graph, own) = read;
        files.check()?;
        graph.check(&files)?;
        if own.len() != self.processes.len() {
            return Err("other processes");
        }
        for (process, own) in self.processes.iter_mut().zip(own) {
            own.check(&files, graph.len())?;
            process.files = own;
        }
        (self.files, self.graph) = (files, graph);
        Ok(self)
    }

    /// The same with other files.
    pub(crate) fn with_files(mut self, change: impl FnOnce(&mut FilesSnapshot)) -> Self {
        change(&mut self.files);
        self
    }
}
