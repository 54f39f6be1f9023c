//! The installation: the images and the modules that the sidecar was started with.
//!
//! The image for `node` and its module are loaded when the core is opened. The image with the shell
//! and the usual commands, and the image of Python, are loaded when their first program starts.
//! Most runtimes never start a command, so their programs start from the smaller image for `node`.
//! The images for `node` and for the shell have one module. Python has a module of its own, in a
//! folder that need not exist. The memories of all images use the process's address ranges, and the
//! modules use one engine. Next: the crates `memory` and `vm`.

use coldframe_error::Error;
use coldframe_kernel::Library;
use coldframe_kernel::processes::ProgramKind;
use coldframe_memory::Budget;
use coldframe_memory::Image;
use coldframe_panics::process::Mutex;
use coldframe_vm::Factory;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The npm package that has the image of Python.
const PYTHON_PACKAGE: &str = "@coldframe/python";
const PYTHON_IMAGE: &str = "python.image";
/// The folder of Python's standard library, in the folder of the image.
const PYTHON_LIBRARY: &str = "root/usr/lib/python3.13";

/// A kind of image. The numbers are part of the format of snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageKind {
    /// The image for `node`.
    Node = 0,
    /// The image with the shell and the usual commands.
    Shell = 1,
    /// The image of Python.
    Python = 2,
}

impl ImageKind {
    /// Returns the image that runs programs of this kind.
    pub(crate) fn of(kind: &ProgramKind) -> Self {
        match kind {
            ProgramKind::Shell(_) => Self::Shell,
            ProgramKind::Python => Self::Python,
            ProgramKind::Node | ProgramKind::Binding(_) | ProgramKind::Env => Self::Node,
        }
    }

    /// Returns the number in the format of snapshots.
    pub(crate) fn number(self) -> u32 {
        self as u32
    }

    /// Returns the kind with this number.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        [Self::Node, Self::Shell, Self::Python].into_iter().find(|kind| kind.number() == number)
    }
}

/// The images and the modules that the sidecar was started with.
pub struct Installation {
    folder: PathBuf,
    /// The folder of Python, which may be missing.
    python_folder: Option<PathBuf>,
    warm_slots: usize,
    budget: Arc<Budget>,
    node: Arc<Factory>,
    shell: Mutex<Option<Arc<Factory>>>,
    python: Mutex<Option<Arc<Factory>>>,
    library: Library,
}

impl Installation {
    /// Loads the image for `node`, and opens the library of Python if Python is installed. All
    /// memories together use at most `budget`.
    pub(crate) fn open(folder: &Path, python: Option<&Path>, warm_slots: usize, budget: Arc<Budget>) -> Result<Self, Error> {
        #[cfg(test)]
        coldframe_testing::model::prepare();
        let node = Factory::load(folder, open(folder, "guest.image", &budget, warm_slots)?)?;
        Ok(Self {
            folder: folder.to_owned(),
            python_folder: python.map(Path::to_owned),
            warm_slots,
            budget,
            node: Arc::new(node),
            shell: Mutex::default(),
            python: Mutex::default(),
            library: python.map_or_else(|| Ok(Library::missing().clone()), library)?,
        })
    }

    /// Returns the factory for `node`.
    pub(crate) fn node(&self) -> &Arc<Factory> {
        &self.node
    }

    /// Returns the factory that makes the VMs of this image, and loads the image if no program has
    /// used the image yet. Concurrent callers wait a few milliseconds for the first load.
    pub(crate) fn factory(&self, kind: ImageKind) -> Result<Arc<Factory>, Error> {
        let (folder, name, loaded) = match kind {
            ImageKind::Node => return Ok(self.node.clone()),
            ImageKind::Shell => (&self.folder, "shell.image", &self.shell),
            ImageKind::Python => (self.python_folder()?, PYTHON_IMAGE, &self.python),
        };
        let mut loaded = loaded.lock();
        if let Some(factory) = &*loaded {
            return Ok(factory.clone());
        }
        let image = open(folder, name, &self.budget, self.warm_slots)?;
        let factory = Arc::new(self.node.with_image(folder, image)?);
        Ok(loaded.insert(factory).clone())
    }

    /// Fails with `ERR_PYTHON_MISSING` for Python's image if Python is not installed.
    pub(crate) fn check(&self, kind: ImageKind) -> Result<(), Error> {
        if kind == ImageKind::Python { self.python_folder().map(drop) } else { Ok(()) }
    }

    fn python_folder(&self) -> Result<&PathBuf, Error> {
        let missing = Error::PythonMissing { package: PYTHON_PACKAGE };
        let folder = self.python_folder.as_ref().ok_or_else(|| missing.clone())?;
        let is_there = self.python.lock().is_some() || folder.join(PYTHON_IMAGE).exists();
        if is_there { Ok(folder) } else { Err(missing) }
    }

    /// Returns the standard library of Python, which all runtimes share.
    pub(crate) fn library(&self) -> &Library {
        &self.library
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

/// Opens the library in Python's folder. A missing folder is no error, because the first program of
/// Python reports that Python is not installed.
fn library(python: &Path) -> Result<Library, Error> {
    let folder = python.join(PYTHON_LIBRARY);
    match Library::open(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Library::missing().clone()),
        opened => opened.map_err(|error| Error::Image { path: folder.display().to_string(), reason: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_images_never_change() {
        let numbers = [ImageKind::Node, ImageKind::Shell, ImageKind::Python].map(ImageKind::number);
        assert_eq!(numbers, [0, 1, 2]);
        for number in numbers {
            assert_eq!(ImageKind::of_number(number).map(ImageKind::number), Some(number));
        }
        assert_eq!(ImageKind::of_number(3), None);
    }
}
