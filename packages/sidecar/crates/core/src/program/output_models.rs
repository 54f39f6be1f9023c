//! Models of a program's output. loom runs the writers of the output, the embedder's thread and the
//! end of the program in every order. The number of preemptions is bounded.
//!
//! The models compile `shared_output.rs` itself, with loom's types.

#[path = "shared_output.rs"]
#[expect(clippy::duplicate_mod, reason = "the model compiles the module with other types")]
#[expect(dead_code, reason = "the models do not use all fields")]
mod shared_output;

use super::output;
use crate::options::Streams;
use coldframe_ids::EvaluationId;
use coldframe_testing::model::{Mutex, check};
use loom::thread;
use output::{Piece, Written};
use shared_output::SharedOutput;
use std::sync::Arc;

/// The types of the output in the models.
mod sync {
    pub(super) use coldframe_testing::model::{Mutex, MutexGuard};
}

const STDOUT: Streams = Streams { stdout: true, stderr: false };
/// The limit of the captured output, and the length of a piece that is sent at once.
const LIMIT: u64 = 1 << 20;
const FULL_PIECE: usize = 64 << 10;

/// A report to the sink.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    Output(Piece),
    /// The end of the program or of an evaluation, with the captured bytes.
    Ended(Option<EvaluationId>, Vec<u8>),
}

/// A program of a model: its output, and the reports to its sink.
#[derive(Clone)]
struct Program {
    output: Arc<SharedOutput>,
    reports: Arc<Mutex<Vec<Report>>>,
}

impl Program {
    fn new(streams: Streams) -> Self {
        Self { output: Arc::new(SharedOutput::new(streams, LIMIT)), reports: Arc::default() }
    }

    fn send(&self, piece: Piece) {
        self.reports.lock().push(Report::Output(piece));
    }

    fn write(&self, bytes: &[u8]) {
        assert_eq!(self.output.write(1, bytes, |piece| self.send(piece)).0, Written::Taken(bytes.len()));
    }

    fn flush(&self) {
        self.output.flush(|piece| self.send(piece));
    }

    /// Ends the program or the evaluation.
    fn end(&self, evaluation: Option<EvaluationId>) {
        let ended = self.output.end(|piece| self.send(piece));
        let [(captured, _), _] = ended.captured;
        self.reports.lock().push(Report::Ended(evaluation, captured));
    }

    /// Runs `work` on another thread.
    fn spawn(&self, work: impl FnOnce(&Self) + 'static) -> thread::JoinHandle<()> {
        let program = self.clone();
        thread::spawn(move || work(&program))
    }

    /// Returns the bytes that were sent to `evaluation`. Checks that no bytes follow its end.
    fn sent_to(&self, evaluation: Option<EvaluationId>) -> Vec<u8> {
        let mut sent = Vec::new();
        let mut has_ended = false;
        for report in &*self.reports.lock() {
            match report {
                Report::Output(piece) if piece.evaluation == evaluation => {
                    assert!(!has_ended, "output after the end");
                    sent.extend_from_slice(&piece.data);
                }
                Report::Ended(ended, _) if *ended == evaluation => has_ended = true,
                _ => {}
            }
        }
        sent
    }

    /// Returns the captured bytes of all ends.
    fn captured(&self) -> Vec<u8> {
        let reports = self.reports.lock();
        let captured = reports.iter().filter_map(|report| if let Report::Ended(_, bytes) = report { Some(bytes) } else { None });
        captured.flatten().copied().collect()
    }
}

/// A child sends the bytes that its root program has gathered, while the root program writes and
/// ends.
#[test]
fn bytes_are_sent_in_order_and_before_the_end() {
    check(Some(2), || {
        let root = Program::new(STDOUT);
        let child = root.spawn(Program::flush);
        root.write(b"a");
        root.flush();
        root.write(b"b");
        root.end(None);
        child.join().expect("the child ends");
        assert_eq!(root.sent_to(None), b"ab");
        assert_eq!(root.captured(), b"ab");
    });
}

/// A child whose pieces are sent at once outlives its root program.
#[test]
fn output_of_a_child_is_sent_before_the_end_of_its_root_or_not_at_all() {
    check(Some(2), || {
        let root = Program::new(STDOUT);
        let child = root.spawn(|root| root.write(&[7; FULL_PIECE]));
        root.end(None);
        child.join().expect("the child ends");
        assert_eq!(root.sent_to(None), root.captured());
    });
}

/// The embedder attaches to a program while the program writes and ends.
#[test]
fn an_attached_reader_receives_all_bytes_in_order_or_none() {
    check(Some(2), || {
        let program = Program::new(Streams::default());
        program.write(b"a");
        let embedder = program.spawn(|program| {
            let streams = program.output.lock().stream(STDOUT);
            program.flush();
            assert_eq!(streams, !program.sent_to(None).is_empty());
        });
        program.write(b"b");
        program.flush();
        program.end(None);
        embedder.join().expect("the embedder's thread ends");
        let sent = program.sent_to(None);
        assert!(sent == b"ab" || sent.is_empty(), "{sent:?}");
        assert_eq!(program.captured(), b"ab");
    });
}

/// A child writes while one evaluation of its runner ends and the next begins. Only the first
/// evaluation streams.
#[test]
fn output_reaches_only_an_evaluation_that_streams() {
    check(Some(2), || {
        let [first, second] = [7, 8].map(EvaluationId::new);
        let runner = Program::new(Streams::default());
        runner.output.lock().begin(first, STDOUT);
        let child = runner.spawn(|runner| {
            runner.write(b"a");
            runner.flush();
            runner.write(b"b");
            runner.flush();
        });
        runner.end(first);
        runner.output.lock().begin(second, Streams::default());
        runner.flush();
        child.join().expect("the child ends");
        runner.end(second);
        assert!(runner.sent_to(second).is_empty(), "the evaluation streams nothing");
        assert!(b"ab".starts_with(&runner.sent_to(first)));
        assert_eq!(runner.captured(), b"ab");
    });
}

/// A rollback ends an evaluation without its program.
#[test]
fn an_abandoned_evaluation_receives_no_output_after_its_end() {
    check(Some(2), || {
        let evaluation = EvaluationId::new(7);
        let runner = Program::new(Streams::default());
        runner.output.lock().begin(evaluation, STDOUT);
        let child = runner.spawn(|runner| {
            runner.write(b"a");
            runner.flush();
        });
        runner.output.abandon();
        runner.reports.lock().push(Report::Ended(evaluation, Vec::new()));
        child.join().expect("the child ends");
        runner.sent_to(evaluation);
    });
}
