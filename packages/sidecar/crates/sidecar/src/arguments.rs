//! Parses the command line. The error of a wrong command line is one sentence that names the
//! option, the expectation and the value.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::time::Duration;

use coldframe_core::{CoreOptions, DEFAULT_MAX_RUNTIMES, StoreOptions};
use coldframe_protocol::messages::VERSION;
use lexopt::Arg::{Long, Short, Value};
use lexopt::Parser;

const HELP: &str = "\
The Coldframe sidecar runs untrusted programs for the process that started it. The SDK starts it.

Usage: coldframe-sidecar --channel-fd N --image DIR [options]

  --channel-fd N   the connected Unix stream socket that the sidecar inherits (3 or more)
  --image DIR      the directory with guest.image and its module
  --python DIR     the directory with python.image, its module and Python's library (default: no Python)
  --workers N      threads that run guests, 1 to 256 (default: one per processor)
  --warm-slots N   memory slots kept ready for the next program, 0 to 4096 (default: 16)
  --max-runtimes N largest number of live runtimes, 1 to 65536 (default: 10000)
  --spin-us N      microseconds to look for more work after a reply before sleeping, 0 to 10000 (default: 50)
  --inline-us N    microseconds that a lone request runs on the reading thread, 0 to 10000 (default: 200)
  --snapshots DIR  the directory for snapshots on disk, created with the first snapshot
  --snapshot-bytes N   largest size of all snapshots on disk, in bytes (default: 10 GiB)
  --snapshot-memory N  largest size of all snapshots in memory, in bytes (default: 4 GiB)
  --walls MODE     the wall around the process: auto, required or off (default: auto)
  --mount-root DIR the only folder that will be mounted; repeatable, and empty for no folder
  --log TOPICS     write a log to stderr: all, or request, runtime, program, snapshot separated by commas
  --help           print this
  --version        print the version";

const DEFAULT_WARM_SLOTS: usize = 16;
const DEFAULT_SPIN_US: u64 = 50;
const DEFAULT_INLINE_US: u64 = 200;
const DEFAULT_SNAPSHOT_BYTES: u64 = 10 << 30;
const DEFAULT_SNAPSHOT_MEMORY: u64 = 4 << 30;

/// The action that the command line requests.
pub enum Command {
    /// Serves an embedder.
    Serve(Box<Arguments>),
    /// Prints a text and exits.
    Print(String),
}

/// The options of the serving process.
pub struct Arguments {
    /// The descriptor of the socket.
    pub channel_fd: RawFd,
    /// Options of the core.
    pub core: CoreOptions,
    /// Options of the store.
    pub store: StoreOptions,
    /// The time for which the reading thread polls for more frames after a reply, before the thread
    /// blocks.
    pub spin: Duration,
    /// The time that a lone request may run on the reading thread. Zero means never.
    pub inline: Duration,
    /// Whether the process is walled.
    pub walls: WallMode,
    /// The only folders that will be mounted. `None` if further folders may be mounted later.
    pub mount_roots: Option<Vec<PathBuf>>,
    /// The topics of the log. `None` turns the log off.
    pub log: Option<String>,
    /// The folder of the stand-in for an escaped guest, and the only attempt to make.
    #[cfg(feature = "stand-in")]
    pub stand_in: Option<(PathBuf, Option<String>)>,
}

/// Whether the process is walled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WallMode {
    /// The parts that the system allows are built.
    Auto,
    /// The start fails if a part is missing.
    Required,
    /// No part is built.
    Off,
}

/// Parses the command line, which includes the program's name.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = Parser::from_iter(arguments);
    let (mut channel_fd, mut image_dir, mut python_dir) = (None, None, None::<PathBuf>);
    let (mut workers, mut warm_slots) = (0, DEFAULT_WARM_SLOTS);
    let mut max_runtimes = DEFAULT_MAX_RUNTIMES;
    let (mut spin, mut inline) = (DEFAULT_SPIN_US, DEFAULT_INLINE_US);
    let (mut directory, mut max_bytes, mut memory_bytes) = (None, DEFAULT_SNAPSHOT_BYTES, DEFAULT_SNAPSHOT_MEMORY);
    let (mut walls, mut mount_roots) = (WallMode::Auto, None::<Vec<PathBuf>>);
    let mut log = None;
    #[cfg(feature = "stand-in")]
    let (mut stage, mut only) = (None, None);
    while let Some(argument) = parser.next().map_err(|e| hinted(&e.to_string()))? {
        match argument {
            Long("help") | Short('h') => return Ok(Command::Print(HELP.to_owned())),
            Long("version") | Short('V') => return Ok(Command::Print(VERSION.to_owned())),
            Long("channel-fd") => channel_fd = Some(number(&mut parser, "--channel-fd", 3, i32::MAX as u64)? as RawFd),
            Long("image") => image_dir = Some(PathBuf::from(parser.value().map_err(|e| hinted(&e.to_string()))?)),
            Long("python") => python_dir = Some(PathBuf::from(parser.value().map_err(|e| hinted(&e.to_string()))?)),
            Long("workers") => workers = number(&mut parser, "--workers", 1, 256)? as usize,
            Long("warm-slots") => warm_slots = number(&mut parser, "--warm-slots", 0, 4096)? as usize,
            Long("max-runtimes") => {
                max_runtimes = number(&mut parser, "--max-runtimes", 1, coldframe_session::MAX_RUNTIMES as u64)?
            }
            Long("spin-us") => spin = number(&mut parser, "--spin-us", 0, 10_000)?,
            Long("inline-us") => inline = number(&mut parser, "--inline-us", 0, 10_000)?,
            Long("snapshots") => directory = Some(PathBuf::from(parser.value().map_err(|e| hinted(&e.to_string()))?)),
            Long("snapshot-bytes") => max_bytes = number(&mut parser, "--snapshot-bytes", 0, u64::MAX)?,
            Long("snapshot-memory") => memory_bytes = number(&mut parser, "--snapshot-memory", 0, u64::MAX)?,
            Long("walls") => walls = wall_mode(&parser.value().map_err(|e| hinted(&e.to_string()))?)?,
            Long("mount-root") => {
                let root = PathBuf::from(parser.value().map_err(|e| hinted(&e.to_string()))?);
                mount_roots.get_or_insert_default().extend(Some(root).filter(|root| !root.as_os_str().is_empty()));
            }
            Long("log") => log = Some(parser.value().map_err(|e| hinted(&e.to_string()))?.to_string_lossy().into_owned()),
            #[cfg(feature = "stand-in")]
            Long("stand-in") => stage = parser.value().ok().map(PathBuf::from),
            #[cfg(feature = "stand-in")]
            Long("only") => only = parser.value().ok().map(|name| name.to_string_lossy().into_owned()),
            Long(_) | Short(_) | Value(_) => return Err(hinted(&argument.unexpected().to_string())),
        }
    }
    let channel_fd = channel_fd.ok_or_else(|| hinted("--channel-fd N is missing"))?;
    let image_dir = image_dir.ok_or_else(|| hinted("--image DIR is missing"))?;
    let (spin, inline) = (Duration::from_micros(spin), Duration::from_micros(inline));
    // The process behind the wall has another working directory.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    // Behind the wall, only the folders of the images exist, and no folder of a link or of `..`.
    let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or_else(|_| absolute(path));
    let (image_dir, python_dir) = (real(image_dir), python_dir.map(real));
    let directory = directory.map(absolute);
    let (edge, requires_edge_walls) = (beside_this_program(), walls == WallMode::Required);
    let core = CoreOptions { image_dir, python_dir, workers, warm_slots, spin, max_runtimes, edge, requires_edge_walls };
    let store = StoreOptions { directory, max_bytes, memory_bytes };
    Ok(Command::Serve(Box::new(Arguments {
        channel_fd,
        core,
        store,
        spin,
        inline,
        walls,
        mount_roots,
        log,
        #[cfg(feature = "stand-in")]
        stand_in: stage.map(|stage| (stage, only)),
    })))
}

/// Returns the path of the program that opens connections out of runtimes. The program is in the
/// folder of this program, so no option and no request names another program.
fn beside_this_program() -> PathBuf {
    std::env::current_exe().unwrap_or_default().with_file_name(coldframe_core::EDGE_PROGRAM)
}

fn number(parser: &mut Parser, name: &str, least: u64, most: u64) -> Result<u64, String> {
    let value = parser.value().map_err(|e| hinted(&e.to_string()))?;
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| format!("{name}: expected a whole number from {least} to {most}, received {value:?}"))
}

fn wall_mode(value: &OsString) -> Result<WallMode, String> {
    match value.to_str() {
        Some("auto") => Ok(WallMode::Auto),
        Some("required") => Ok(WallMode::Required),
        Some("off") => Ok(WallMode::Off),
        _ => Err(format!("--walls: expected auto, required or off, received {value:?}")),
    }
}

fn hinted(reason: &str) -> String {
    format!("{reason} (see --help)")
}
