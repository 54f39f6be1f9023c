//! The images of an installation: the one for `node`, which is loaded when the core is opened, and the one that holds the shell and the usual
//! commands, which is loaded when the first of them is started.
//!
//! Two images and not one, because most runtimes never start a command: theirs stays small, and starts touch nothing of the shell. Both share the
//! process's address ranges for memories. Next: `image/mod.rs`, `vm/mod.rs`.

use crate::image::Image;
use crate::memory::Budget;
use crate::vm::Factory;
use coldframe_error::Error;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// See the module.
pub(crate) struct Images {
    folder: PathBuf,
    warm_slots: usize,
    budget: Arc<Budget>,
    node: Arc<Factory>,
    shell: Mutex<Option<Arc<Factory>>>,
}

impl Images {
    /// Loads the image for `node`. All memories together take no more than `budget` has.
    pub(crate) fn open(folder: &Path, warm_slots: usize, budget: Arc<Budget>) -> Result<Self, Error> {
        let node = load(folder, "guest.image", &budget, warm_slots)?;
        Ok(Self { folder: folder.to_owned(), warm_slots, budget, node, shell: Mutex::default() })
    }

    pub(crate) fn node(&self) -> &Arc<Factory> {
        &self.node
    }

    /// Loads the shell's image unless it is there. Whoever comes meanwhile waits: it takes a few milliseconds, once.
    pub(crate) fn shell(&self) -> Result<Arc<Factory>, Error> {
        let mut shell = self.shell.lock();
        if let Some(loaded) = &*shell {
            return Ok(loaded.clone());
        }
        let loaded = load(&self.folder, "shell.image", &self.budget, self.warm_slots)?;
        Ok(shell.insert(loaded).clone())
    }
}

fn load(folder: &Path, name: &str, budget: &Arc<Budget>, warm_slots: usize) -> Result<Arc<Factory>, Error> {
    let image = Image::open(&folder.join(name), budget.clone(), warm_slots)?;
    Ok(Arc::new(Factory::load(folder, image)?))
}
