//! The host calls and replies of one system call on an app file system.
//!
//! A system call that needs a reply of the embedder stops at the host call. When the reply arrives,
//! the system call runs again from its beginning. A repeated host call that equals the earlier host
//! call receives the earlier reply.
//!
//! No code in the kernel therefore waits: no lock is held and no guest memory is borrowed while the
//! embedder works. One function resolves the paths of all mounts, and needs no asynchronous
//! version. A host call that changes files is made once, because later rounds find the reply. If
//! the tree changed between two rounds and the host calls differ, the later replies are dropped.
//!
//! The exchange is stored in a thread-local variable, like the caller (`caller_scope.rs`). Next:
//! `async_imports.rs` of the crate `vm`, which runs the rounds.

use super::wire::Input;
use crate::caller_scope::set_repeated;
use crate::usage::{Charge, Footprint, Resource, Usage};
use coldframe_error::Errno;
use std::cell::RefCell;
use std::sync::Arc;

/// The maximum bytes of the host calls and replies of one system call. A system call that exceeds
/// the bound fails with `ENOBUFS`. The bytes also count for the runtime's limit of kernel memory.
const MAX_BYTES: usize = 64 << 20;
/// The maximum number of host calls of one system call. A system call that exceeds the bound fails
/// with `ENOBUFS`. Each round compares all earlier host calls, so the number must be small. The
/// longest path without links needs fewer host calls than the bound.
const MAX_HOST_CALLS: usize = 16_384;
/// The kernel memory of a host call in bytes, besides its arguments and its reply.
const ENTRY_COST: u64 = 2 * size_of::<(FileSystemRequest, FileSystemReply)>() as u64;

thread_local! {
    static CURRENT: RefCell<Option<Exchange>> = const { RefCell::new(None) };
}

/// One host call of a system call to an app file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemRequest {
    /// The operation that the app's file system runs.
    pub name: &'static str,
    /// The encoded arguments of the operation.
    pub input: Vec<u8>,
}

/// The reply to a host call.
type FileSystemReply = Result<Arc<Vec<u8>>, Errno>;

/// The host calls and replies of one system call.
#[derive(Default)]
pub struct Exchange {
    known: Vec<(FileSystemRequest, FileSystemReply)>,
    /// The index of the next known reply.
    next: usize,
    bytes: usize,
    /// The charge for the memory of `known`. `None` while the thread has the exchange.
    charge: Option<Charge>,
    wanted: Option<FileSystemRequest>,
}

/// Clears the thread's exchange at the end of a round, also after a panic.
struct ClearOnDrop;

impl Drop for ClearOnDrop {
    fn drop(&mut self) {
        CURRENT.set(None);
        set_repeated(false);
    }
}

impl Exchange {
    /// Makes the exchange of a system call. The replies are charged to the runtime with the
    /// counters `usage`.
    pub fn new(usage: &Arc<Usage>) -> Self {
        Self { charge: Some(Charge::none(usage, Resource::Kernel)), ..Self::default() }
    }

    /// Runs one round of a system call. Host calls of the round receive the known replies.
    pub fn round<R>(&mut self, call: impl FnOnce() -> R) -> R {
        self.next = 0;
        self.update_repeated();
        CURRENT.set(Some(std::mem::take(self)));
        let clear = ClearOnDrop;
        let result = call();
        *self = CURRENT.take().unwrap_or_default();
        drop(clear);
        result
    }

    /// Returns the host call of the last round that needs a reply. If there is such a host call,
    /// the result of the round is void.
    pub fn wanted(&mut self) -> Option<FileSystemRequest> {
        self.wanted.take()
    }

    /// Adds the reply to a host call. If the exchange exceeds a bound or the runtime's limit of
    /// kernel memory, adds the error `ENOBUFS` instead.
    pub fn answer(&mut self, request: FileSystemRequest, reply: Result<Vec<u8>, Errno>) {
        self.bytes += request.input.len() + reply.as_ref().map_or(0, Vec::len);
        let cost = ENTRY_COST + request.input.footprint() + reply.as_ref().map_or(0, Footprint::footprint);
        let is_charged = self.charge.as_mut().is_none_or(|charge| charge.grow(cost));
        let too_much = self.bytes > MAX_BYTES || self.known.len() >= MAX_HOST_CALLS || !is_charged;
        let reply = if too_much { Err(Errno::ENOBUFS) } else { reply.map(Arc::new) };
        self.known.push((request, reply));
    }

    /// Updates the thread's scope: whether the following work repeats an earlier round or is void.
    fn update_repeated(&self) {
        set_repeated(self.wanted.is_some() || self.next < self.known.len());
    }

    fn ask(&mut self, name: &'static str, input: Input) -> FileSystemReply {
        let reply = self.reply(name, input);
        self.update_repeated();
        reply
    }

    fn reply(&mut self, name: &'static str, input: Input) -> FileSystemReply {
        if self.wanted.is_some() {
            return Err(Errno::ERESTART);
        }
        let request = FileSystemRequest { name, input: input.done() };
        if let Some((known, reply)) = self.known.get(self.next) {
            if *known == request {
                self.next += 1;
                return reply.clone();
            }
            self.known.truncate(self.next);
        }
        self.wanted = Some(request);
        Err(Errno::ERESTART)
    }
}

/// Makes a host call. Fails with `EOPNOTSUPP` outside of a round, because the embedder's own
/// operations on files cannot wait for a reply.
pub(super) fn ask(name: &'static str, input: Input) -> FileSystemReply {
    CURRENT.with_borrow_mut(|current| match current {
        Some(exchange) => exchange.ask(name, input),
        None => Err(Errno::EOPNOTSUPP),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller_scope::is_repeated;
    use crate::limits::Limits;

    fn look(path: &'static [u8]) -> Result<Vec<u8>, Errno> {
        ask("stat", Input::new(0).text(path)).map(|reply| reply.to_vec())
    }

    #[test]
    fn makes_one_host_call_a_round_and_finds_earlier_replies() {
        let mut exchange = Exchange::new(&Arc::default());
        let call = || Ok::<_, Errno>([look(b"a")?, look(b"b")?].concat());
        for expected in [1_u8, 2] {
            assert_eq!(exchange.round(call), Err(Errno::ERESTART));
            let request = exchange.wanted().expect("a host call");
            exchange.answer(request, Ok(vec![expected]));
        }
        assert_eq!(exchange.round(call), Ok(vec![1, 2]));
        assert_eq!(exchange.wanted(), None);
        assert_eq!(look(b"a"), Err(Errno::EOPNOTSUPP), "a host call outside of a round fails");
    }

    #[test]
    fn marks_the_work_that_an_earlier_round_did() {
        let mut exchange = Exchange::new(&Arc::default());
        let mut seen = Vec::new();
        for _ in 0..3 {
            let _ = exchange.round(|| {
                seen.push(is_repeated());
                let first = look(b"a");
                seen.push(is_repeated());
                first.and_then(|_| look(b"b")).map(|_| seen.push(is_repeated()))
            });
            if let Some(request) = exchange.wanted() {
                exchange.answer(request, Ok(vec![]));
            }
        }
        assert_eq!(seen, [false, true, true, false, true, true, false], "each host call is new in one round");
        assert!(!is_repeated());
    }

    #[test]
    fn a_different_host_call_drops_the_later_replies() {
        let mut exchange = Exchange::new(&Arc::default());
        let both = || Ok::<_, Errno>([look(b"a")?, look(b"b")?].concat());
        for _ in 0..2 {
            assert!(exchange.round(both).is_err());
            let request = exchange.wanted().expect("a host call");
            exchange.answer(request, Ok(vec![7]));
        }
        assert_eq!(exchange.round(|| Ok::<_, Errno>([look(b"a")?, look(b"c")?].concat())), Err(Errno::ERESTART));
        assert!(exchange.wanted().expect("a host call").input.ends_with(b"c"));
        assert_eq!(exchange.known.len(), 1, "the reply about b is dropped");
        exchange.answer(FileSystemRequest { name: "stat", input: Input::new(0).text(b"c").done() }, Err(Errno::ENOENT));
        assert_eq!(exchange.round(|| [look(b"a"), look(b"c")]), [Ok(vec![7]), Err(Errno::ENOENT)], "an error is a reply");
    }

    #[test]
    fn the_bytes_of_one_call_are_bounded() {
        let mut exchange = Exchange::new(&Arc::default());
        assert_eq!(exchange.round(|| look(b"a")), Err(Errno::ERESTART));
        let request = exchange.wanted().expect("a host call");
        exchange.answer(request, Ok(vec![0; MAX_BYTES]));
        assert_eq!(exchange.round(|| look(b"a")), Err(Errno::ENOBUFS));
    }

    #[test]
    fn the_replies_are_charged_to_the_runtime_until_the_call_ends() {
        let usage = Usage::new(&Limits { kernel_bytes: 100_000, ..Limits::default() });
        let mut exchange = Exchange::new(&usage);
        for (len, expected) in [(50_000, Ok(())), (60_000, Err(Errno::ENOBUFS))] {
            let call = || look(b"a").and_then(|_| look(b"b").map(|_| ()));
            assert_eq!(exchange.round(call), Err(Errno::ERESTART));
            let request = exchange.wanted().expect("a host call");
            exchange.answer(request, Ok(vec![0; len]));
            let result = exchange.round(call);
            assert_eq!(if result == Err(Errno::ERESTART) { Ok(()) } else { result }, expected);
        }
        assert!((50_000..100_000).contains(&usage.kernel_bytes()));
        drop(exchange);
        assert_eq!(usage.kernel_bytes(), 0);
    }

    #[test]
    fn the_host_calls_of_one_call_are_bounded() {
        let mut exchange = Exchange::new(&Arc::default());
        for _ in 0..=MAX_HOST_CALLS {
            exchange.answer(FileSystemRequest { name: "stat", input: Input::new(0).text(b"a").done() }, Ok(vec![1]));
        }
        let endless = exchange.round(|| (0..).find_map(|_| look(b"a").err()));
        assert_eq!((endless, exchange.wanted()), (Some(Errno::ENOBUFS), None));
    }
}
