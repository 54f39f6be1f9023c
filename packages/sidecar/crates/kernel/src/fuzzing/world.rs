//! A kernel with programs that have no VM. The programs make system calls from bytes.

use crate::Library;
use crate::caller::Caller;
use crate::descriptors::Descriptors;
use crate::limits::Limits;
use crate::net::{FakeOutside, FlowRules};
use crate::outside::{FlowId, OutsideEvent};
use crate::permissions::policy::{PermissionPolicy, ScopePolicy, Verdict};
use crate::snapshot::{KernelSnapshot, RestoreInputs, RestoredKernel};
use crate::testing::FakeCaller;
use crate::usage::Resource;
use crate::{Answer, Arguments, Kernel, Process, Status, call};
use coldframe_error::Error;
use std::sync::Arc;

/// The largest number of programs that a target makes.
const MOST_PROGRAMS: usize = 6;

/// A kernel and its live programs.
pub(super) struct World {
    pub(super) kernel: Arc<Kernel>,
    pub(super) programs: Vec<Arc<dyn Caller>>,
    outside: Arc<FakeOutside>,
    rules: FlowRules,
}

/// Attaches the outside to a kernel.
fn attach(kernel: &Kernel) -> Arc<FakeOutside> {
    let outside = Arc::new(FakeOutside::default());
    kernel.set_outside(Some(outside.clone()));
    outside
}

/// Returns limits that a short input can reach.
pub(super) fn limits() -> Limits {
    Limits {
        kernel_bytes: 4 << 20,
        processes: 12,
        descriptors: 24,
        pipes: 12,
        pipe_bytes: 4_096,
        sockets: 16,
        socket_bytes: 4_096,
        filesystem_bytes: 1 << 20,
        inodes: 120,
        watches: 8,
        operations: 64,
        stdin_bytes: 1 << 16,
        ..Limits::default()
    }
}

impl World {
    /// Makes a kernel with two root programs, whose standard inputs the embedder can write to.
    pub(super) fn new() -> Self {
        let kernel = Arc::new(Kernel::new(&limits()));
        let start = |_| {
            let pid = kernel.processes.enter_root().expect("room for two processes");
            let process = Process::new(kernel.clone(), pid, "/workspace");
            process.open_feed(b"first").expect("room for a socket");
            FakeCaller::start(process, &[])
        };
        let programs = (0..2).map(start).collect();
        let network = Some(ScopePolicy::always(Verdict::Allow));
        kernel.permissions.set(&PermissionPolicy { network, ..PermissionPolicy::default() }).expect("a good policy");
        Self { outside: attach(&kernel), kernel, programs, rules: FlowRules::default() }
    }

    pub(super) fn restore(saved: &KernelSnapshot) -> Result<Self, Error> {
        let with = RestoreInputs {
            limits: limits(),
            permissions: None,
            mounts: &[],
            file_systems: &[],
            library: Library::missing(),
            warnings: None,
        };
        let RestoredKernel { kernel, processes } = Kernel::restore(saved, with)?;
        let programs = processes.into_iter().map(|process| FakeCaller::start(process, &[])).collect();
        Ok(Self { outside: attach(&kernel), kernel, programs, rules: FlowRules::default() })
    }

    pub(super) fn snapshot(&self) -> KernelSnapshot {
        let processes: Vec<&Process> = self.programs.iter().map(|program| program.process()).collect();
        self.kernel.snapshot(&processes)
    }

    /// Passes an event of the outside to the kernel.
    pub(super) fn event(&mut self, flow: FlowId, event: OutsideEvent<'_>) {
        // The credit and the end count from the event on, not for the kernel's earlier calls.
        self.rules.check(self.outside.take());
        match &event {
            OutsideEvent::Credit(bytes) => self.rules.credit(flow, *bytes),
            OutsideEvent::Closed(_) => self.rules.close(flow),
            _ => {}
        }
        self.kernel.sockets.outside_event(flow, event);
        self.check_flows();
    }

    /// Checks that the kernel has followed the rules of flows.
    pub(super) fn check_flows(&mut self) {
        self.rules.check(self.outside.take());
    }

    /// Makes a child of a program. The child inherits the descriptors of its parent.
    pub(super) fn fork(&mut self, parent: usize) {
        if self.programs.len() >= MOST_PROGRAMS {
            return;
        }
        let parent = &self.programs[parent];
        let slots = parent.process().files.descriptors.lock().slots().to_vec();
        let Ok(pid) = self.kernel.processes.enter_plain_child(parent.pid()) else { return };
        let process = Process::new(self.kernel.clone(), pid, "/workspace");
        *process.files.descriptors.lock() = Descriptors::inherited(slots, self.kernel.descriptors());
        self.programs.push(FakeCaller::start(process, &[]));
    }

    /// Ends a program.
    pub(super) fn end(&mut self, at: usize, status: Status) {
        let ended = self.programs.remove(at);
        ended.process().close();
        self.kernel.processes.exited(ended.pid(), status, false);
    }

    /// Ends every program that a signal has ended, as the scheduler does.
    pub(super) fn end_killed(&mut self) {
        while let Some(at) = self.programs.iter().position(|program| program.is_ending()) {
            self.end(at, Status::Signal(9));
        }
    }

    pub(super) fn call(&self, at: usize, number: u32, integers: [i64; 8], memory: &mut [u8]) -> Answer {
        let answer = call(&self.programs[at], number, &mut Arguments::new(integers, memory));
        self.check_limits();
        answer
    }

    /// Checks that no counter exceeds its limit.
    pub(super) fn check_limits(&self) {
        let limits = self.kernel.usage.limits;
        let files = self.kernel.files.lock();
        assert!(files.used.bytes <= limits.filesystem_bytes, "{} bytes of files", files.used.bytes);
        assert!(files.used.inodes <= limits.inodes, "{} inodes", files.used.inodes);
        drop(files);
        let used = |resource| self.kernel.usage.gauge(resource).used_and_highest().1;
        assert!(used(Resource::Kernel) <= limits.kernel_bytes, "{} bytes of the kernel", used(Resource::Kernel));
        assert!(used(Resource::HostFiles) <= limits.host_files);
        let (entries, programs, sockets) = self.kernel.counts();
        assert!(entries as u64 <= limits.processes && programs <= entries, "{programs} of {entries} processes");
        assert!(sockets as u64 <= 2 * (limits.sockets + limits.pipes), "{sockets} sockets");
    }

    /// Ends all programs. Checks that the kernel has no program and no charged memory afterwards.
    pub(super) fn finish(mut self) {
        while !self.programs.is_empty() {
            self.end(0, Status::Code(0));
        }
        self.check_flows();
        for flow in self.rules.open_flows() {
            self.event(flow, OutsideEvent::Closed(None));
        }
        let Self { kernel, .. } = self;
        assert_eq!(kernel.sockets.outside_counts(), (0, 0), "flows and lookups after the end of all programs");
        assert_eq!(kernel.counts().1, 0, "programs after the end of all programs");
        assert_eq!(kernel.usage.gauge(Resource::Kernel).used_and_highest().0, 0, "charged bytes after the end");
        assert_eq!(kernel.usage.gauge(Resource::HostFiles).used_and_highest().0, 0, "charged host files after the end");
    }
}
