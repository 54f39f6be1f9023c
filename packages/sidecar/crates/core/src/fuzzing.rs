//! The fuzz targets of the core. `store/fuzzing.rs` has the target `snapshot-head`.
//!
//! The target `revive` makes a snapshot from the input, restores the snapshot with a real guest and
//! runs the guest. The state is the input's. The guest's memory is the memory of a runner, with
//! changed bytes of the input.
#![expect(clippy::expect_used, reason = "a target panics on a broken promise")]

pub use crate::store::fuzzing::head;

use crate::snapshot::StoredMemory;
use crate::{
    Core, CoreOptions, Dispatch, EvaluationSettings, Mode, Outcome, Process, ProcessOptions, RestoreOptions, Runtime,
    RuntimeOptions, Sink, Snapshot, SnapshotOptions, Streams, Timings,
};
use coldframe_error::Error;
use coldframe_ids::{Digest, EvaluationId};
use coldframe_kernel::Limits;
use coldframe_memory::Piece;
use coldframe_sys::{self as sys, PAGE};
use coldframe_vm::{HashedCopy, Pages, VmSnapshot};
use sha2::{Digest as _, Sha256};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

/// The bound of a step that always ends.
const STEP: Duration = Duration::from_secs(60);
/// The time that a restored guest may run. A changed memory can make the guest spin.
const RUN: Duration = Duration::from_millis(20);
/// The codes of errors that a snapshot from any source may cause.
const KNOWN: [&str; 4] = ["ERR_SNAPSHOT_DAMAGED", "ERR_SNAPSHOT_FOREIGN", "ERR_RESOURCE_EXHAUSTED", "ERR_SNAPSHOT_LACKS"];
/// The bytes of a kernel's state that every build has its own: a version and a digest.
const KERNEL_HEAD: usize = 1 + Digest::LEN;
const LENGTH: usize = 8;
const MOST_CHANGES: usize = 16;

/// Sends a unit for each call that ends something.
struct Ends(Mutex<Sender<()>>);

impl Ends {
    fn channel() -> (Arc<Self>, Receiver<()>) {
        let (sender, receiver) = channel();
        (Arc::new(Self(Mutex::new(sender))), receiver)
    }

    fn send(&self) {
        let _ = self.0.lock().expect("no target panics while it sends").send(());
    }
}

impl Sink for Ends {
    fn output(&self, _evaluation: Option<EvaluationId>, _fd: u8, _data: Vec<u8>) {}
    fn evaluated(&self, _evaluation: EvaluationId, _outcome: Outcome) {
        self.send();
    }
    fn ready(&self, _timings: Timings) {
        self.send();
    }
    fn exited(&self, _outcome: Outcome) {
        self.send();
    }
}

/// A snapshot of a runner, from which the inputs make other snapshots.
struct Base {
    core: Core,
    snapshot: Arc<Snapshot>,
    state: Vec<u8>,
    /// The bytes of the memory's file: the head, and the pages.
    memory: (Vec<u8>, Vec<u8>),
}

fn evaluate(process: &Process, code: &str) -> Result<(), Error> {
    let id = EvaluationId::new(1).expect("no id is 0");
    process.evaluate(id, code.to_owned(), EvaluationSettings::default(), None, Streams::default(), Dispatch::Worker)
}

impl Base {
    fn new() -> Self {
        let image_dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../runner/dist"));
        let options = CoreOptions {
            image_dir,
            python_dir: None,
            workers: 1,
            warm_slots: 4,
            spin: Duration::ZERO,
            max_runtimes: 100,
            edge: PathBuf::new(),
            requires_edge_walls: false,
        };
        let core = Core::open(&options).expect("the guest image must be built before the target runs");
        let limits = Limits { memory_bytes: 32 << 20, cpu_ms: 1_000, ..Limits::default() };
        let runtime = core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime");
        let (sink, ends) = Ends::channel();
        let process = runtime.start(runner(), sink, Dispatch::Worker).expect("a runner");
        ends.recv_timeout(STEP).expect("the runner becomes ready");
        evaluate(
            &process,
            "const { getBuiltinModule } = process; getBuiltinModule('fs').writeFileSync('/tmp/x', 'y');
            globalThis.server = getBuiltinModule('net').createServer().listen(80); server.unref();
            globalThis.fd = getBuiltinModule('fs').openSync('/tmp/x'); setTimeout(() => {}, 1e6).unref();",
        )
        .expect("an evaluation");
        ends.recv_timeout(STEP).expect("the evaluation ends");
        let snapshot = take(&runtime);
        let state = snapshot.state_bytes().expect("the state can be encoded");
        let StoredMemory { image, snapshot: vm, .. } = snapshot.memories().remove(0);
        let factory = core.installation().factory(image).expect("the image");
        let laid = vm.lay_out(&factory, None, Vec::new()).expect("the memory can be laid out");
        let pages = laid.pages().flatten().copied().collect();
        let memory = (laid.head, pages);
        Self { core, snapshot, state, memory }
    }

    /// Returns the state of an input. The input has no version and no digest of the standard files.
    fn state_of(&self, data: &[u8]) -> Option<Vec<u8>> {
        let (len, rest) = data.split_first_chunk::<2>()?;
        let (above, kernel) = rest.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
        let own = u64::from_le_bytes(*self.state.first_chunk::<LENGTH>()?);
        let kernel_at = LENGTH + usize::try_from(own).ok()?;
        let head = self.state.get(kernel_at..kernel_at + KERNEL_HEAD)?;
        Some([&(above.len() as u64).to_le_bytes()[..], above, head, kernel].concat())
    }

    /// Returns the memory of the base with changed bytes. Each change is an offset of three bytes
    /// and a byte.
    fn changed_memory(&self, changes: &[u8]) -> Result<Arc<VmSnapshot>, Error> {
        let mut pages = self.memory.1.clone();
        for change in changes.chunks_exact(4) {
            let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
            let len = pages.len().max(1);
            if let Some(byte) = pages.get_mut(at % len) {
                *byte = change[3];
            }
        }
        let head = corrected(&self.memory.0, &pages);
        let bytes = [&head[..], &pages].concat();
        let file = sys::memory_file().expect("a file in memory");
        file.write_all_at(&bytes, 0).expect("a file in memory can be written");
        let factory = self.core.installation().node().clone();
        let len = (head.len() + pages.len()) as u64;
        let piece = Piece::new(file, len, factory.image().budget())?;
        let read = VmSnapshot::read(&factory, &piece, (0, len), Pages::Unchecked, Path::new("input"));
        let mut copied = Vec::new();
        let copy = VmSnapshot::copy(&factory, &mut HashedCopy::new(&mut &bytes[..], &mut copied), len);
        assert_eq!(copy.ok(), read.as_ref().ok().map(|read| read.name), "a copy and a read accept the same bytes");
        assert!(read.is_err() || copied == bytes, "a copy has the bytes of its source");
        Ok(read?.snapshot)
    }
}

fn runner() -> ProcessOptions {
    ProcessOptions {
        mode: Mode::Resident,
        language: crate::Language::JavaScript,
        code: String::new(),
        args: vec![],
        exec_argv: vec![],
        env: vec![],
        cwd: None,
        stdin: vec![],
        timeout: None,
        limits: vec![],
        streams: Streams::default(),
        live: false,
        user: None,
        terminal: None,
        keeps_session: false,
    }
}

fn take(runtime: &Runtime) -> Arc<Snapshot> {
    let (sender, taken) = channel();
    runtime.snapshot(SnapshotOptions::default(), move |taken| {
        let _ = sender.send(taken);
    });
    taken.recv_timeout(STEP).expect("every snapshot has a result").expect("a snapshot").0
}

/// Returns the head of a memory's file with the digests of `pages`. `snapshot/format.rs` of the
/// crate `vm` describes the layout.
fn corrected(head: &[u8], pages: &[u8]) -> Vec<u8> {
    const TABLE: usize = 320;
    const RUN_LEN: usize = 48;
    let mut head = head.to_vec();
    let runs = head.get(136..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
    let mut from = 0;
    for run in head[TABLE..TABLE + runs * RUN_LEN].chunks_exact_mut(RUN_LEN) {
        let len = u64::from_le_bytes(run[8..16].try_into().unwrap_or_default()) as usize;
        run[16..].copy_from_slice(&Sha256::digest(&pages[from..from + len]));
        from += len;
    }
    head[16..48].fill(0);
    let digest = Sha256::digest(&head);
    head[16..48].copy_from_slice(&digest);
    assert!(head.len().is_multiple_of(PAGE) && from == pages.len());
    head
}

/// Restores a snapshot and lets its guest run.
fn run(base: &Base, snapshot: &Arc<Snapshot>) -> Result<(), Error> {
    let (sink, ends) = Ends::channel();
    let assign = &mut |_: &_, _: Option<_>| -> Arc<dyn Sink> { sink.clone() };
    let ((runtime, programs), _) = base.core.restore(snapshot, RestoreOptions::default(), assign)?;
    let begun = programs.first().map(|(_, process)| evaluate(process, "globalThis.fd + server.address().port"));
    if matches!(begun, Some(Ok(()))) {
        let _ = ends.recv_timeout(RUN);
    }
    runtime.dispose();
    Ok(())
}

/// Restores and runs a snapshot. The first byte is the number of changes to the memory. The
/// changes, the length of the state above the kernel, this state and the kernel's state follow.
///
/// # Panics
/// Panics if a restore fails with an unexpected error.
pub fn revive(data: &[u8]) {
    if let Some(Err(error)) = restored(data) {
        assert!(KNOWN.contains(&error.code()), "{error}");
    }
}

/// Restores and runs the snapshot of an input. Returns `None` if the input has too few bytes.
fn restored(data: &[u8]) -> Option<Result<(), Error>> {
    static BASE: LazyLock<Base> = LazyLock::new(Base::new);
    let (changes, rest) = data.split_first()?;
    let (changes, rest) = rest.split_at_checked(usize::from(*changes) % MOST_CHANGES * 4)?;
    let state = BASE.state_of(rest)?;
    let made = BASE.changed_memory(changes).and_then(|snapshot| {
        let memory = |old: StoredMemory| StoredMemory { snapshot: snapshot.clone(), ..old };
        let memories = BASE.snapshot.memories().into_iter().map(memory).collect();
        Snapshot::assemble(BASE.core.installation(), BASE.snapshot.info().clone(), &state, memories)
    });
    Some(made.and_then(|snapshot| run(&BASE, &snapshot)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_snapshots_are_refused_or_run() {
        coldframe_testing::run_kept_inputs("revive", revive);
    }

    /// The file of the seed, which `writes_the_seed` writes.
    fn seed() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/revive/runner")
    }

    /// A seed of another format would be refused, and the fuzzer would rarely reach the guest.
    #[test]
    fn the_seed_is_restored() {
        let bytes = std::fs::read(seed()).expect("the seed");
        let result = restored(&bytes).expect("the seed has all parts");
        result.expect("write the seed again, with the ignored test `writes_the_seed`");
    }

    /// Writes the seed of the target: the base itself.
    #[test]
    #[ignore = "writes a file: node scripts/cargo.mjs test -p coldframe-core writes_the_seed -- --ignored"]
    fn writes_the_seed() {
        let base = Base::new();
        let len = u64::from_le_bytes(*base.state.first_chunk::<LENGTH>().expect("a length")) as usize;
        let (above, kernel) = base.state[LENGTH..].split_at(len);
        let seed = [&[0], &(above.len() as u16).to_le_bytes()[..], above, &kernel[KERNEL_HEAD..]].concat();
        std::fs::write(self::seed(), seed).expect("written");
    }
}
