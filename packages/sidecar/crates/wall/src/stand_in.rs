//! A stand-in for an escaped guest, for tests alone: native code in the sidecar's process that
//! tries the calls that the wall refuses. A release does not contain this module.
//!
//! Each attempt is one row of [`ATTEMPTS`]. The tests run all attempts twice. Behind the wall,
//! every attempt must fail. Without the wall, the attempts of [`Control::Succeeds`] must succeed,
//! so that a wrong attempt does not pass.

mod attempts;

pub use attempts::ATTEMPTS;

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

/// The result of an attempt without the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// It succeeds for root on every supported kernel.
    Succeeds,
    /// It depends on the machine.
    Depends,
    /// It would harm the machine, and is not made.
    Skipped,
    /// The wall answers the attempt with the end of the process, so it is made alone.
    Ends,
}

/// One attempt. `run` returns the result of a system call: negative after a failure.
pub struct Attempt {
    /// The name, as the tests print it.
    pub name: &'static str,
    /// The result of the attempt without the wall.
    pub control: Control,
    /// Makes the attempt.
    pub run: fn(&Stage) -> libc::c_long,
}

/// The facts that an escaped guest knows.
pub struct Stage {
    /// The process of the app, which is the parent.
    pub app: libc::c_long,
    /// A folder of the host machine with a file `secret`.
    pub folder: PathBuf,
    /// The folder of the image.
    pub image: PathBuf,
}

impl Stage {
    /// Returns a path below the folder.
    pub fn path(&self, name: &str) -> CString {
        text(&self.folder.join(name))
    }
}

/// Converts a path for a system call.
pub fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).unwrap_or_default()
}

/// Makes all attempts, or the attempt `only`. Prints one line for each attempt: the name, the
/// control, and `done` or the error.
pub fn run(stage: &Stage, only: Option<&str>, walled: bool) {
    for attempt in ATTEMPTS.iter().filter(|attempt| only.map_or(attempt.control != Control::Ends, |only| only == attempt.name)) {
        if !walled && attempt.control == Control::Skipped {
            continue;
        }
        let result = (attempt.run)(stage);
        let error = io::Error::last_os_error();
        let result = if result < 0 { format!("{error}") } else { "done".to_owned() };
        eprintln!("{}\t{:?}\t{result}", attempt.name, attempt.control);
    }
    eprintln!("all attempts made");
}
