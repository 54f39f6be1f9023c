//! Fault injection: a test can make the disk fail, or the machine stop, in the middle of a write.
//! The functions have no effect in builds without tests. Next: `names.rs`.

use std::fs::File;
use std::io;

/// A step of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Create,
    Write,
    Sync,
    Rename,
    SyncFolder,
    /// Flushing the parent of a new folder.
    SyncAbove,
}

/// An injected fault.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The system returns this error number.
    Errno(i32),
    /// The machine stops.
    Death,
}

/// The planned fault.
#[derive(Debug, Default)]
pub(super) struct Faults {
    #[cfg(test)]
    next: coldframe_panics::process::Mutex<Option<(Step, Fault)>>,
    #[cfg(test)]
    dead: std::sync::atomic::AtomicBool,
}

#[cfg(not(test))]
impl Faults {
    #[expect(clippy::unused_self, reason = "as in tests")]
    pub(super) fn at(&self, _: Step) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn tear(&self, _: &File) {}

    pub(super) fn is_dead(&self) -> bool {
        false
    }
}

#[cfg(test)]
impl Faults {
    /// Makes `fault` happen at the next `step`.
    pub(super) fn plan(&self, step: Step, fault: Fault) {
        *self.next.lock() = Some((step, fault));
    }

    pub(super) fn at(&self, step: Step) -> io::Result<()> {
        match self.next.lock().take_if(|(at, _)| *at == step) {
            Some((_, Fault::Errno(number))) => Err(io::Error::from_raw_os_error(number)),
            Some((_, Fault::Death)) => {
                self.dead.store(true, std::sync::atomic::Ordering::Relaxed);
                Err(io::ErrorKind::Interrupted.into())
            }
            None => Ok(()),
        }
    }

    /// Cuts a file to half its length, as an interrupted write does.
    pub(super) fn tear(&self, file: &File) {
        let _ = file.set_len(file.metadata().map_or(0, |meta| meta.len() / 2));
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.load(std::sync::atomic::Ordering::Relaxed)
    }
}
