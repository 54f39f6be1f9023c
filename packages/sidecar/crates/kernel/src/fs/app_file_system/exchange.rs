//! Questions and answers of one call. A call of the guest that needs to know something of the caller outside stops there; when the answer has
//! come, it is carried out again from its beginning, and finds the answers so far where it asks the same again.
//!
//! So nothing in the kernel waits: no lock is held and no memory of the guest is kept while the caller thinks, and there is one resolution of
//! paths and not a second one that can wait. A question that changes something is asked once: what comes after it does not ask it again. If the
//! tree has changed between two rounds so that the questions differ, the answers from there on are forgotten.
//!
//! Which exchange a question belongs to is known by the thread, as who asks is (`caller_scope.rs`). Next: `vm/patient.rs`, which runs the rounds.

use super::wire::Input;
use crate::caller_scope::set_repeated;
use coldframe_error::Errno;
use std::cell::RefCell;
use std::sync::Arc;

/// Bytes of questions and answers of one call; whoever needs more is refused with `ENOBUFS`.
const MAX_BYTES: usize = 64 << 20;
/// Questions of one call, the same beyond it. Each round looks at all answers again, so that their number must be small; the longest path
/// without links asks fewer than this.
const MAX_QUESTIONS: usize = 16_384;

thread_local! {
    static CURRENT: RefCell<Option<Exchange>> = const { RefCell::new(None) };
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemRequest {
    /// The operation that the app's file system carries out.
    pub name: &'static str,
    /// The operation's input.
    pub input: Vec<u8>,
}

/// What came back.
type FileSystemReply = Result<Arc<Vec<u8>>, Errno>;

/// See the module.
#[derive(Default)]
pub struct Exchange {
    known: Vec<(FileSystemRequest, FileSystemReply)>,
    /// The answer that is looked at next.
    next: usize,
    bytes: usize,
    wanted: Option<FileSystemRequest>,
}

/// Puts the thread's exchange back when a round ends, however it ends.
struct Back;

impl Drop for Back {
    fn drop(&mut self) {
        CURRENT.set(None);
        set_repeated(false);
    }
}

impl Exchange {
    /// Carries out a round of a call: what it asks is answered from what is known.
    pub fn round<R>(&mut self, call: impl FnOnce() -> R) -> R {
        self.next = 0;
        self.mark();
        CURRENT.set(Some(std::mem::take(self)));
        let back = Back;
        let result = call();
        *self = CURRENT.take().unwrap_or_default();
        drop(back);
        result
    }

    /// What the last round asked and is not known: the round's result means nothing then.
    pub fn wanted(&mut self) -> Option<FileSystemRequest> {
        self.wanted.take()
    }

    /// The answer to it.
    pub fn answer(&mut self, asked: FileSystemRequest, answer: Result<Vec<u8>, Errno>) {
        self.bytes += asked.input.len() + answer.as_ref().map_or(0, Vec::len);
        let too_much = self.bytes > MAX_BYTES || self.known.len() >= MAX_QUESTIONS;
        let answer = if too_much { Err(Errno::ENOBUFS) } else { answer.map(Arc::new) };
        self.known.push((asked, answer));
    }

    /// Marks whether the work from here on is repeated or void.
    fn mark(&self) {
        set_repeated(self.wanted.is_some() || self.next < self.known.len());
    }

    fn ask(&mut self, name: &'static str, input: Input) -> FileSystemReply {
        let reply = self.reply(name, input);
        self.mark();
        reply
    }

    fn reply(&mut self, name: &'static str, input: Input) -> FileSystemReply {
        if self.wanted.is_some() {
            return Err(Errno::ERESTART);
        }
        let asked = FileSystemRequest { name, input: input.done() };
        if let Some((known, answer)) = self.known.get(self.next) {
            if *known == asked {
                self.next += 1;
                return answer.clone();
            }
            self.known.truncate(self.next);
        }
        self.wanted = Some(asked);
        Err(Errno::ERESTART)
    }
}

/// Asks the caller outside. `EOPNOTSUPP` where nobody can wait for it: in what the caller itself does with the runtime's files.
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

    fn look(path: &'static [u8]) -> Result<Vec<u8>, Errno> {
        ask("stat", Input::new(0).text(path)).map(|answer| answer.to_vec())
    }

    #[test]
    fn a_call_asks_one_thing_at_a_time_and_finds_its_answers_again() {
        let mut exchange = Exchange::default();
        let call = || Ok::<_, Errno>([look(b"a")?, look(b"b")?].concat());
        for expected in [1_u8, 2] {
            assert_eq!(exchange.round(call), Err(Errno::ERESTART));
            let asked = exchange.wanted().expect("a question");
            exchange.answer(asked, Ok(vec![expected]));
        }
        assert_eq!(exchange.round(call), Ok(vec![1, 2]));
        assert_eq!(exchange.wanted(), None);
        assert_eq!(look(b"a"), Err(Errno::EOPNOTSUPP), "nobody waits outside of a round");
    }

    #[test]
    fn what_an_earlier_round_has_done_is_known_as_such() {
        let mut exchange = Exchange::default();
        let mut seen = Vec::new();
        for _ in 0..3 {
            let _ = exchange.round(|| {
                seen.push(is_repeated());
                let first = look(b"a");
                seen.push(is_repeated());
                first.and_then(|_| look(b"b")).map(|_| seen.push(is_repeated()))
            });
            if let Some(asked) = exchange.wanted() {
                exchange.answer(asked, Ok(vec![]));
            }
        }
        assert_eq!(seen, [false, true, true, false, true, true, false], "each place is new once");
        assert!(!is_repeated());
    }

    #[test]
    fn other_questions_forget_what_was_answered_after_them() {
        let mut exchange = Exchange::default();
        let both = || Ok::<_, Errno>([look(b"a")?, look(b"b")?].concat());
        for _ in 0..2 {
            assert!(exchange.round(both).is_err());
            let asked = exchange.wanted().expect("a question");
            exchange.answer(asked, Ok(vec![7]));
        }
        assert_eq!(exchange.round(|| Ok::<_, Errno>([look(b"a")?, look(b"c")?].concat())), Err(Errno::ERESTART));
        assert!(exchange.wanted().expect("a question").input.ends_with(b"c"));
        assert_eq!(exchange.known.len(), 1, "the answer about b is of no use any more");
        exchange.answer(FileSystemRequest { name: "stat", input: Input::new(0).text(b"c").done() }, Err(Errno::ENOENT));
        assert_eq!(exchange.round(|| [look(b"a"), look(b"c")]), [Ok(vec![7]), Err(Errno::ENOENT)], "an error is an answer");
    }

    #[test]
    fn what_one_call_may_have_kept_is_bounded() {
        let mut exchange = Exchange::default();
        assert_eq!(exchange.round(|| look(b"a")), Err(Errno::ERESTART));
        let asked = exchange.wanted().expect("a question");
        exchange.answer(asked, Ok(vec![0; MAX_BYTES]));
        assert_eq!(exchange.round(|| look(b"a")), Err(Errno::ENOBUFS));
    }

    #[test]
    fn a_call_whose_answers_are_crumbs_ends() {
        let mut exchange = Exchange::default();
        for _ in 0..=MAX_QUESTIONS {
            exchange.answer(FileSystemRequest { name: "stat", input: Input::new(0).text(b"a").done() }, Ok(vec![1]));
        }
        let endless = exchange.round(|| (0..).find_map(|_| look(b"a").err()));
        assert_eq!((endless, exchange.wanted()), (Some(Errno::ENOBUFS), None));
    }
}
