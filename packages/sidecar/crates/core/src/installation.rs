//! The installation: the images and the module that the sidecar was started with.
//!
//! There are two images of one module. The module and the image for `node` are loaded when the core
//! is opened. The image with the shell and the usual commands is loaded when the first command
//! starts. Most runtimes never start a command, so their programs start from the smaller image for
//! `node`. The memories of both images use the process's address ranges. Next: the crates `memory`
//! and `vm`.

use coldframe_error::Error;
use coldframe_kernel::processes::ProgramKind;
use coldframe_memory::Budget;
use coldframe_memory::Image;
use coldframe_panics::process::Mutex;
use coldframe_vm::Factory;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The images and the module that the sidecar was started with.
pub struct Installation {
    folder: PathBuf,
    warm_slots: usize,
    budget: Arc<Budget>,
    node: Arc<Factory>,
    shell: Mutex<Option<Arc<Factory>>>,
}

impl Installation {
    /// Loads the image for `node`. All memories together use at most `budget`.
    pub(crate) fn open(folder: &Path, warm_slots: usize, budget: Arc<Budget>) -> Result<Self, Error> {
        #[cfg(test)]
        coldframe_testing::model::prepare();
        let node = Factory::load(folder, open(folder, "guest.image", &budget, warm_slots)?)?;
        Ok(Self { folder: folder.to_owned(), warm_slots, budget, node: Arc::new(node), shell: Mutex::default() })
    }

    /// Returns the factory for `node`.
    pub(crate) fn node(&self) -> &Arc<Factory> {
        &self.node
    }

    /// Returns the factory that makes the VMs of this kind.
    pub(crate) fn factory(&self, kind: &ProgramKind) -> Result<Arc<Factory>, Error> {
        self.factory_of(matches!(kind, ProgramKind::Shell(_)))
    }

    /// Returns the factory of the shell, or of `node`.
    pub(crate) fn factory_of(&self, is_shell: bool) -> Result<Arc<Factory>, Error> {
        if is_shell { self.shell() } else { Ok(self.node.clone()) }
    }

    /// Loads the shell's image unless the image is loaded. Concurrent callers wait a few
    /// milliseconds for the first load.
    fn shell(&self) -> Result<Arc<Factory>, Error> {
        let mut shell = self.shell.lock();
        if let Some(loaded) = &*shell {
            return Ok(loaded.clone());
        }
        let image = open(&self.folder, "shell.image", &self.budget, self.warm_slots)?;
        let loaded = Arc::new(self.node.with_image(&self.folder, image)?);
        Ok(shell.insert(loaded).clone())
    }

    /// Returns the content hash of the image for `node`, in hex.
    pub(crate) fn image_id(&self) -> &str {
        self.node.image().id()
    }

    /// Returns the number of bytes of memory that a `node` program starts with.
    pub(crate) fn image_len(&self) -> u64 {
        self.node.image().len() as u64
    }
}

fn open(folder: &Path, name: &str, budget: &Arc<Budget>, warm_slots: usize) -> Result<Arc<Image>, Error> {
    Image::open(&folder.join(name), budget.clone(), warm_slots)
}
