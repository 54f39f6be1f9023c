//! Models of the sinks and of the requests in flight. loom runs programs, the session's thread and
//! the embedder's calls in every order. The number of preemptions is bounded.
//!
//! The models compile `replies.rs`, `requests.rs` and `sinks/` themselves, with loom's types. A
//! program of a model has no VM: a thread calls the sink as the core does. The session's thread
//! follows the steps of `programs.rs`, `runners.rs` and `pause.rs`.

#[path = "replies.rs"]
#[expect(clippy::duplicate_mod, reason = "the model compiles the module with other types")]
#[expect(dead_code, reason = "the models do not use all methods")]
mod replies;
#[path = "requests.rs"]
#[expect(clippy::duplicate_mod, reason = "the model compiles the module with other types")]
#[expect(dead_code, reason = "the models do not use all methods")]
mod requests;
#[path = "sinks/mod.rs"]
#[expect(clippy::duplicate_mod, reason = "the model compiles the modules with other types")]
#[expect(dead_code, unused_imports, reason = "the models do not use all methods")]
mod sinks;

mod listeners;

use std::sync::Arc;

use coldframe_core::{Mode, Outcome, ProgramInfo, Sink, Streams, Timings};
use coldframe_ids::{EvaluationId, Lineage, Pid, RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::Output;
use coldframe_protocol::{Frame, Kind, reader};
use coldframe_testing::model::check;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::message::{Message, Outlet};
use crate::table::{ErrorContext, IdTable};
use replies::Replies;
use sinks::{Ends, Listeners, OrphanSink, ProgramSink, Runner, RunnerSink, Runners, SinkAssignment};
use sync::{Mutex, Process, Runtime};

/// The types of the requests and the sinks in the models.
mod sync {
    pub(super) use super::program::{Process, Runtime};
    pub(super) use coldframe_testing::model::{Mutex, OnceLock};
}

/// The programs of the models.
mod program {
    use super::*;

    /// A runtime of a model.
    #[derive(PartialEq, Eq)]
    pub(crate) struct Runtime;

    /// A program of a model. Its captured and streamed output follows the core's
    /// `shared_output.rs`. The program writes only to stdout.
    #[derive(Clone)]
    pub(crate) struct Process(Arc<Program>);

    struct Program {
        sink: Arc<dyn Sink>,
        output: Mutex<Written>,
        sending: Mutex<()>,
        is_stopped: AtomicBool,
    }

    #[derive(Default)]
    struct Written {
        captured: Vec<u8>,
        gathered: Vec<u8>,
        is_streamed: bool,
        is_observed: bool,
        is_closed: bool,
    }

    impl Process {
        pub(crate) fn new(sink: Arc<dyn Sink>) -> Self {
            let (output, sending, is_stopped) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
            Self(Arc::new(Program { sink, output, sending, is_stopped }))
        }

        pub(crate) fn notify(&self, notice: impl FnOnce(&Self)) {
            notice(self);
        }

        pub(crate) fn cancel(&self) {
            self.0.is_stopped.store(true, Ordering::Release);
        }

        pub(crate) fn cancel_evaluation(&self, _id: EvaluationId) {
            self.cancel();
        }

        #[expect(clippy::unused_self, reason = "the models have no window")]
        pub(crate) fn credit(&self, _bytes: u64) {}

        #[expect(clippy::unused_self, reason = "the models have one runtime")]
        pub(crate) fn is_of(&self, _runtime: &Runtime) -> bool {
            true
        }

        pub(crate) fn is_stopped(&self) -> bool {
            self.0.is_stopped.load(Ordering::Acquire)
        }

        pub(crate) fn write(&self, byte: u8) {
            let mut output = self.0.output.lock();
            output.captured.push(byte);
            if output.is_streamed || output.is_observed {
                output.gathered.push(byte);
            }
        }

        pub(crate) fn flush(&self) {
            let _sending = self.0.sending.lock();
            let gathered = std::mem::take(&mut self.0.output.lock().gathered);
            self.send(gathered);
        }

        fn send(&self, gathered: Vec<u8>) {
            if !gathered.is_empty() {
                self.0.sink.output(None, 1, gathered);
            }
        }

        /// Follows `shared_output.rs` of the core.
        pub(crate) fn observe(&self, observed: Streams, add: impl FnOnce()) {
            let _sending = self.0.sending.lock();
            let gathered = {
                let mut output = self.0.output.lock();
                output.is_observed = observed.stdout && !output.is_closed;
                std::mem::take(&mut output.gathered)
            };
            self.send(gathered);
            add();
        }

        pub(crate) fn stream(&self, streams: Streams) -> bool {
            let mut output = self.0.output.lock();
            if output.is_closed {
                return false;
            }
            if streams.stdout && !output.is_streamed {
                output.gathered = output.captured.clone();
            }
            output.is_streamed = streams.stdout;
            drop(output);
            self.flush();
            true
        }

        /// Ends the program.
        pub(crate) fn end(&self) {
            let sending = self.0.sending.lock();
            let after = Written { is_closed: true, ..Written::default() };
            let Written { captured, gathered, .. } = std::mem::replace(&mut *self.0.output.lock(), after);
            self.send(gathered);
            drop(sending);
            self.0.sink.exited(Outcome { stdout: captured, ..ended() });
        }
    }
}

const STDOUT: Streams = Streams { stdout: true, stderr: false };

fn ended() -> Outcome {
    Outcome {
        exit_code: 0,
        signal: None,
        stdout: Vec::new(),
        stderr: Vec::new(),
        stdout_truncated: false,
        stderr_truncated: false,
        value: None,
        failure: None,
        timings: Timings::default(),
    }
}

fn request(number: u32) -> RequestId {
    RequestId::new(number).expect("the number is not 0")
}

fn info(pid: u32, mode: Mode) -> ProgramInfo {
    ProgramInfo { pid: Pid::new(pid), lineage: Lineage::new(pid.into()), mode, command: String::new(), is_root: true }
}

/// An outlet that keeps the messages.
#[derive(Default)]
struct Messages(Mutex<Vec<Message>>);

impl Outlet for Messages {
    fn send(&self, message: Message) {
        self.0.lock().push(message);
    }

    fn wake(&self) {}
}

/// The session of a model: the requests and the runners.
struct Model {
    messages: Arc<Messages>,
    replies: Replies,
    runners: Runners,
}

impl Model {
    fn new() -> Self {
        let messages = Arc::<Messages>::default();
        let replies = Replies { outlet: messages.clone(), requests: Arc::default() };
        Self { messages, replies, runners: Mutex::new(IdTable::new("runners", 8)) }
    }

    fn begin(&self, id: RequestId) {
        assert!(self.replies.requests.begin(id, None).expect("the table has space"));
    }

    fn context() -> ErrorContext {
        ErrorContext::runtime(RuntimeId::new(1).expect("the number is not 0"))
    }

    fn program_sink(&self, id: RequestId) -> Arc<dyn Sink> {
        let (replies, listeners, turn) = (self.replies.clone(), self.listeners(), Mutex::default());
        let (context, streams) = (Self::context(), Streams::default());
        Arc::new(ProgramSink { request: id, context, live: false, streams, listeners, replies, turn })
    }

    fn listeners(&self) -> Arc<Listeners> {
        Listeners::new(Self::context(), self.replies.clone(), Arc::new(Ends::default()), None)
    }

    /// Makes a runner that `created_by` creates.
    fn runner_sink(&self, created_by: RequestId) -> (RunnerId, Arc<RunnerSink>) {
        let mut runners = self.runners.lock();
        let runner = runners.reserve();
        let runtime = RuntimeId::new(1).expect("the number is not 0");
        runners.insert(runner, Runner::new(runtime));
        (runner, Arc::new(RunnerSink::new(Some(created_by), runtime, runner, None, self.replies.clone())))
    }

    fn assignment(&self) -> SinkAssignment<'_> {
        SinkAssignment::new(RuntimeId::new(1).expect("the number is not 0"), false, &self.replies, &self.runners, Arc::default())
    }

    /// Returns the output that was sent for a request. Checks that the request has exactly one
    /// reply, which is the last message.
    fn output_of(&self, id: RequestId) -> Vec<u8> {
        assert!(!self.replies.requests.contains(id), "the request was answered");
        let mut output = Vec::new();
        let mut replies = 0;
        for message in self.messages.0.lock().iter().filter(|message| message.request() == Some(id)) {
            assert_eq!(replies, 0, "a message after the reply");
            replies += usize::from(message.is_reply());
            if let Message::Frame { is_reply: false, bytes, .. } = message {
                let frame = Frame::parse(&bytes[4..]).expect("a frame");
                assert_eq!(frame.kind, Kind::Output.number());
                output.extend_from_slice(reader::read::<Output<'_>>(frame.body).expect("a body").data);
            }
        }
        assert_eq!(replies, 1);
        output
    }

    fn replies_to(&self, id: RequestId) -> usize {
        self.messages.0.lock().iter().filter(|message| message.request() == Some(id) && message.is_reply()).count()
    }
}

/// Follows `programs.rs`.
fn attach(model: &Model, id: RequestId, process: &Process, sink: &OrphanSink) {
    model.begin(id);
    model.replies.requests.attach(id, process.clone());
    sink.attach(id, STDOUT, || process.stream(STDOUT));
}

/// A restored program wrote a byte before the snapshot, and writes another byte and ends while a
/// request attaches.
#[test]
fn a_request_that_attaches_receives_the_whole_output_and_one_reply() {
    check(Some(2), || {
        let model = Model::new();
        let sink = OrphanSink::new(Model::context(), model.replies.clone(), model.listeners());
        let process = Process::new(Arc::new(sink.clone()));
        process.write(b'a');
        let program = {
            let process = process.clone();
            thread::spawn(move || {
                process.write(b'b');
                process.flush();
                process.end();
            })
        };
        attach(&model, request(7), &process, &sink);
        program.join().expect("the program ends");
        assert_eq!(model.output_of(request(7)), b"ab");
    });
}

/// A worker reports that a runner is ready while the creating thread enters the runner into the
/// table.
#[test]
fn a_runner_is_reported_when_it_is_ready_and_in_the_table() {
    check(None, || {
        let model = Model::new();
        model.begin(request(7));
        let (_, sink) = model.runner_sink(request(7));
        sink.started(Pid::new(2));
        let worker = {
            let (sink, replies, messages) = (sink.clone(), model.replies.clone(), model.messages.clone());
            thread::spawn(move || {
                assert!(messages.0.lock().is_empty() && replies.requests.contains(request(7)), "the runner is not ready");
                sink.ready(Timings::default());
            })
        };
        assert_eq!(model.replies_to(request(7)), 0, "the table has no process yet");
        sink.entered();
        worker.join().expect("the worker ends");
        assert!(model.output_of(request(7)).is_empty());
    });
}

/// A runner ends while its creation is not answered.
#[test]
fn the_creation_of_a_runner_that_ends_has_one_reply() {
    check(Some(3), || {
        let model = Model::new();
        model.begin(request(7));
        let (runner, sink) = model.runner_sink(request(7));
        sink.started(Pid::new(2));
        let process = Process::new(sink.clone());
        let worker = {
            let (sink, process) = (sink.clone(), process.clone());
            thread::spawn(move || {
                sink.ready(Timings::default());
                process.end();
            })
        };
        if let Some(entry) = model.runners.lock().get_mut(runner) {
            entry.process = Some(process.clone());
        }
        model.replies.requests.attach(request(7), process);
        sink.entered();
        worker.join().expect("the worker ends");
        assert!(model.output_of(request(7)).is_empty());
    });
}

/// The evaluations of a runner end because of a cancellation, or normally, while the runner ends.
#[test]
fn an_evaluation_that_two_threads_end_has_one_reply() {
    check(Some(3), || {
        let model = Model::new();
        let (_, sink) = model.runner_sink(request(7));
        model.begin(request(8));
        let worker = {
            let sink = sink.clone();
            thread::spawn(move || sink.evaluated(request(8).evaluation(), ended()))
        };
        sink.evaluated(request(8).evaluation(), ended());
        worker.join().expect("the worker ends");
        assert!(model.output_of(request(8)).is_empty());
    });
}

/// A call of the embedder starts a program on another thread while the session receives `cancel`.
#[test]
fn a_cancellation_reaches_a_program_that_is_being_started() {
    check(Some(3), || {
        let model = Model::new();
        model.begin(request(7));
        let process = Process::new(model.program_sink(request(7)));
        let start = {
            let (process, requests) = (process.clone(), model.replies.requests.clone());
            thread::spawn(move || requests.attach(request(7), process))
        };
        model.replies.requests.cancel(request(7));
        start.join().expect("the call ends");
        assert!(process.is_stopped());
    });
}

/// A pause begins and fails while a program is being started and cancelled.
#[test]
fn a_cancellation_takes_effect_after_a_failed_pause() {
    check(Some(3), || {
        let model = Model::new();
        let requests = &model.replies.requests;
        model.begin(request(7));
        let process = Process::new(model.program_sink(request(7)));
        let start = {
            let (process, requests) = (process.clone(), requests.clone());
            thread::spawn(move || requests.attach(request(7), process))
        };
        requests.hold(&Runtime);
        requests.cancel(request(7));
        requests.release(&Runtime);
        start.join().expect("the call ends");
        assert!(process.is_stopped());
    });
}

/// A program is cancelled before or after its pause begins, and is resumed.
#[test]
fn a_cancellation_reaches_the_resumed_program() {
    check(Some(3), || {
        let model = Model::new();
        let requests = &model.replies.requests;
        model.begin(request(7));
        let [paused, resumed] = [(); 2].map(|()| Process::new(model.program_sink(request(7))));
        let start = {
            let (paused, requests) = (paused.clone(), requests.clone());
            thread::spawn(move || requests.attach(request(7), paused))
        };
        requests.hold(&Runtime);
        requests.cancel(request(7));
        requests.detach(request(7));
        requests.attach(request(7), resumed.clone());
        start.join().expect("the call ends");
        assert!(resumed.is_stopped());
    });
}

/// A rollback replaces the program of a request. The restored program ends before, while or after
/// the session assigns its process.
#[test]
fn a_request_of_a_replaced_program_has_one_reply() {
    check(Some(3), || {
        let model = Model::new();
        model.begin(request(7));
        let old = model.program_sink(request(7));
        model.replies.requests.attach(request(7), Process::new(old.clone()));
        let mut assignment = model.assignment();
        let program = info(2, Mode::Run);
        let process = Process::new(assignment.sink(&program, Some(old)));
        let run = {
            let process = process.clone();
            thread::spawn(move || process.end())
        };
        let assigned = assignment.finish(vec![(program, process)]);
        run.join().expect("the program ends");
        assert!(assigned.orphans.is_empty() && assigned.runners.is_empty());
        assert!(model.output_of(request(7)).is_empty());
    });
}

/// A restored runtime has a program without a request and a runner. Both end while the session
/// assigns the processes and a request attaches.
#[test]
fn restored_programs_that_end_at_once_have_a_runner_or_one_reply() {
    check(Some(2), || {
        let model = Model::new();
        let mut assignment = model.assignment();
        let (program, runner) = (info(2, Mode::Run), info(3, Mode::Resident));
        let [process, resident] = [&program, &runner].map(|info| Process::new(assignment.sink(info, None)));
        let run = {
            let (process, resident) = (process.clone(), resident.clone());
            thread::spawn(move || {
                process.write(b'a');
                process.end();
                resident.end();
            })
        };
        let mut assigned = assignment.finish(vec![(program, process), (runner, resident)]);
        let (process, sink) = assigned.orphans.remove(&Pid::new(2)).expect("no request waits for the program");
        attach(&model, request(7), &process, &sink);
        run.join().expect("the programs end");
        assert_eq!(model.output_of(request(7)), b"a");
        assert!(model.runners.lock().get(assigned.runners[0]).is_some_and(|runner| runner.process.is_some()));
    });
}
