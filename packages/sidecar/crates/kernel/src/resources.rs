//! Collects the counters of a runtime, for the embedder. Each lock is held only while counters are
//! read, so that programs are not delayed. Next: `usage/`, which stores the counters.

use crate::usage::reports::{LimitUse, RuntimeResources};
use crate::usage::{Resource, Usage};
use crate::{Kernel, Process};

impl Process {
    /// Returns the present and the highest number of descriptors, then of operations.
    fn used_and_highest(&self) -> [(u64, u64); 2] {
        [self.files.descriptors.lock().used_and_highest(), self.operations.used_and_highest()]
    }

    /// Returns the bytes of standard input that are not in the process's pipe yet.
    fn fed(&self) -> u64 {
        let feed = *self.feed.lock();
        feed.map_or(0, |feed| self.kernel.sockets.fed(feed))
    }

    /// Records an ended process's highest numbers of descriptors and operations in the runtime's
    /// peaks.
    pub fn leave_peaks(&self) {
        let [(_, descriptors), (_, operations)] = self.used_and_highest();
        self.kernel.usage.peaks.descriptors.record(descriptors);
        self.kernel.usage.peaks.operations.record(operations);
    }
}

/// The values that [`gather`] needs about one live program.
pub struct ProgramUse<'a> {
    /// The kernel's part of the program.
    pub process: &'a Process,
    /// The CPU time that counts for the limit `cpuMs`, in milliseconds.
    pub cpu_ms: u64,
    /// The captured output in bytes, of the program's descriptor with the most captured output.
    pub captured: u64,
    /// Whether the program waits for a timer.
    pub waits_for_timer: bool,
}

/// The use of one limit by the live processes. The fields are the highest present use of one
/// process, the highest use so far of one process, and the sum of the present uses.
#[derive(Default)]
struct PerProcess {
    most: u64,
    high: u64,
    sum: u64,
}

impl PerProcess {
    fn add(&mut self, (used, high): (u64, u64)) {
        (self.most, self.high, self.sum) = (self.most.max(used), self.high.max(high).max(used), self.sum + used);
    }
}

#[derive(Default)]
struct Processes {
    memory: PerProcess,
    cpu_ms: PerProcess,
    descriptors: PerProcess,
    operations: PerProcess,
    output: PerProcess,
    stdin: PerProcess,
    timers: u64,
}

impl Processes {
    fn of(programs: &[ProgramUse<'_>]) -> Self {
        let mut all = Self::default();
        for ProgramUse { process, cpu_ms, captured, waits_for_timer } in programs {
            let [descriptors, operations] = process.used_and_highest();
            all.descriptors.add(descriptors);
            all.operations.add(operations);
            all.memory.add((process.facts.memory(), 0));
            all.cpu_ms.add((*cpu_ms, 0));
            all.output.add((*captured, 0));
            all.stdin.add((process.fed(), 0));
            all.timers += u64::from(*waits_for_timer);
        }
        all
    }
}

/// Returns the use of each limit by a runtime with these live programs. `buffered` is the number of
/// output bytes that wait for their readers.
pub fn gather(kernel: &Kernel, programs: &[ProgramUse<'_>], buffered: u64) -> RuntimeResources {
    let Usage { limits, peaks, .. } = &*kernel.usage;
    let own = Processes::of(programs);
    let ([sockets, pipes], in_sockets) = kernel.sockets.used_and_highest();
    let terminals = kernel.sockets.terminals_used_and_highest();
    let processes = kernel.processes.used_and_highest();
    let (bytes, inodes, watches) = {
        let files = kernel.files.lock();
        let [bytes, inodes] = &files.marks;
        ((files.used.bytes, bytes.high()), (files.used.inodes, inodes.high()), files.watches())
    };
    let gauge = |resource| kernel.usage.gauge(resource).used_and_highest();
    let one = |own: &PerProcess, peak: &crate::usage::Peak| (own.most, own.high.max(peak.get()));
    let uses = [
        ("memoryBytes", one(&own.memory, &peaks.memory_bytes)),
        ("totalMemoryBytes", gauge(Resource::Memory)),
        ("kernelBytes", gauge(Resource::Kernel)),
        ("cpuMs", one(&own.cpu_ms, &peaks.cpu_ms)),
        ("processes", processes),
        ("descriptors", one(&own.descriptors, &peaks.descriptors)),
        ("pipes", pipes),
        ("terminals", terminals),
        ("sockets", sockets),
        ("filesystemBytes", bytes),
        ("inodes", inodes),
        ("hostFiles", gauge(Resource::HostFiles)),
        ("watches", (watches, peaks.watches.get().max(watches))),
        ("operations", one(&own.operations, &peaks.operations)),
        ("stdinBytes", one(&own.stdin, &peaks.stdin_bytes)),
        ("outputBytes", one(&own.output, &peaks.output_bytes)),
    ];
    let uses = uses.map(|(limit, (used, high))| LimitUse { limit, used, high: high.max(used), max: limits.value(limit) });
    RuntimeResources {
        limits: uses.into(),
        descriptors: own.descriptors.sum,
        operations: own.operations.sum,
        timers: own.timers,
        cpu_ms: kernel.usage.cpu_ns() / 1_000_000,
        buffered_bytes: in_sockets + buffered,
    }
}
