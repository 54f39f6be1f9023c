//! Requests about programs and processes. Next: `sinks/`, which send the replies when programs end.

use std::sync::Arc;
use std::time::Duration;

use coldframe_core::{Error, ProcessOptions, Processes, Runtime, Streams};
use coldframe_ids::{Pid, RequestId, RuntimeId};
use coldframe_panics::process::Mutex;
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{ProcessAttach, ProcessRequest, ProcessStart, ProcessTable, Started};

use crate::convert;
use crate::message::Message;
use crate::replies::Reply;
use crate::runtimes::LiveRuntime;
use crate::session::{Handled, Session, Violation, answer};
use crate::sinks::{Listeners, ProgramSink, listeners_of};
use crate::table::ErrorContext;

impl Session {
    /// Handles a request about a program or a process.
    pub(crate) fn process(&mut self, id: RequestId, request: ProcessRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            ProcessRequest::ProcessStart(start) => return self.start_program(id, start, may_run_here),
            ProcessRequest::ProcessAttach(attach) => self.attach(id, &attach)?,
            ProcessRequest::ProcessWrite(write) => self.at_once(id, write.runtime, |runtime, reply| {
                runtime.processes().write(write.pid, write.data, write.end.unwrap_or(false))?;
                Ok(reply.done())
            }),
            ProcessRequest::ProcessSignal(signal) => {
                let send = |runtime: &Runtime, reply: Reply| {
                    runtime.processes().signal(signal.pid, signal.signal)?;
                    Ok(reply.done())
                };
                // A signal can end a program of a frozen runtime.
                let frozen = self.runtimes.get(signal.runtime).filter(|live| live.frozen.is_some());
                match frozen {
                    Some(live) => self.send(answer(id, signal.runtime, live.runtime.contain(|runtime| send(runtime, Reply(id))))),
                    None => self.at_once(id, signal.runtime, send),
                }
            }
            ProcessRequest::ProcessResize(resize) => self.at_once(id, resize.runtime, |runtime, reply| {
                runtime.processes().resize(resize.pid, convert::size(resize.size))?;
                Ok(reply.done())
            }),
            ProcessRequest::ProcessList(list) => {
                let list_all = |runtime: &Runtime, reply| Ok(table(reply, &runtime.processes()));
                if self.runtimes.get(list.runtime).is_some_and(|live| live.calls.are_under_way()) {
                    // The list has the programs of earlier starts.
                    return Ok(self.on_runtime(id, list.runtime, may_run_here, list_all));
                }
                self.at_once(id, list.runtime, list_all);
            }
        }
        Ok(None)
    }

    /// Answers a request at once with the result of one call on a runtime. The call takes no lock
    /// that a guest holds for long. The call names a process, so it does not follow an earlier
    /// call.
    fn at_once(&self, id: RequestId, runtime: RuntimeId, call: impl FnOnce(&Runtime, Reply) -> Result<Message, Error>) {
        match self.open_runtime(runtime) {
            Some(live) => self.send(answer(id, runtime, live.runtime.contain(|runtime| call(runtime, Reply(id))))),
            None => self.refuse(id, &self.no_runtime(runtime)),
        }
    }

    fn start_program(&mut self, id: RequestId, start: ProcessStart<'_>, may_run_here: bool) -> Handled {
        let Some(target) = self.open_runtime(start.runtime) else {
            self.refuse(id, &self.no_runtime(start.runtime));
            return Ok(None);
        };
        let runtime = target.runtime.clone();
        if !self.begin(id, None)? {
            return Ok(None);
        }
        let live = start.live.unwrap_or(false);
        let options = ProcessOptions {
            mode: convert::mode(start.mode),
            language: convert::language(start.language),
            code: start.code.to_owned(),
            args: convert::texts(start.args),
            exec_argv: convert::texts(start.exec_argv),
            env: convert::pairs(start.env),
            cwd: start.cwd.map(str::to_owned),
            stdin: start.stdin.unwrap_or_default().to_vec(),
            timeout: start.timeout_ms.map(Duration::from_millis),
            limits: convert::numbers(start.limits),
            streams: convert::streams(start.stream),
            live,
            user: start.user.map(convert::owner),
            terminal: start.terminal.map(convert::size),
            keeps_session: start.keep_orphans.unwrap_or(false),
        };
        let context = ErrorContext::runtime(start.runtime);
        let (replies, streams) = (self.replies.clone(), options.streams);
        let listeners = Listeners::new(context, replies.clone(), target.ends.clone(), None);
        let start = move |dispatch, turn| {
            let (replies_of_sink, turn) = (replies.clone(), Mutex::new(turn));
            let sink = ProgramSink { request: id, context, live, streams, listeners, replies: replies_of_sink, turn };
            let sink = Arc::new(sink);
            match runtime.contain(|runtime| runtime.start(options, sink, dispatch)) {
                Ok(process) => replies.requests.attach(id, process),
                Err(error) => replies.fail(id, &error, context),
            }
        };
        Ok(self.start(target, may_run_here && !live, start))
    }

    /// Attaches a request to a program. The first request for a restored program takes the place of
    /// the request that started the program. Every other request is a listener.
    fn attach(&mut self, id: RequestId, attach: &ProcessAttach) -> Result<(), Violation> {
        let Some(live) = self.open_runtime(attach.runtime) else {
            self.refuse(id, &self.no_runtime(attach.runtime));
            return Ok(());
        };
        let orphan = live.orphans.as_ref().and_then(|orphans| orphans.get(&attach.pid)).cloned();
        let Some((process, sink)) = orphan else { return self.listen(id, attach) };
        if self.begin(id, None)? {
            let live = self.runtimes.get_mut(attach.runtime);
            if let Some(orphans) = live.and_then(|live| live.orphans.as_mut()) {
                orphans.remove(&attach.pid);
            }
            self.replies.requests.attach(id, process.clone());
            let started = Started { pid: attach.pid, earlier: Some(process.most_captured()), listener: false };
            self.send(Message::of_request(Kind::Started, id, &started, 32));
            let streams = convert::streams(attach.stream);
            sink.attach(id, streams, || process.stream(streams));
        }
        Ok(())
    }

    /// Adds a listener to a program that has a request. The end of a program that has ended is sent
    /// while the end is kept.
    fn listen(&self, id: RequestId, attach: &ProcessAttach) -> Result<(), Violation> {
        let (runtime, pid) = (attach.runtime, attach.pid);
        let Some(live) = self.open_runtime(runtime) else { return Ok(()) };
        let root = live.runtime.processes().root(pid);
        let found = root.and_then(|(process, sink)| Some((process, listeners_of(&*sink)?)));
        let Some((process, listeners)) = found else {
            let Some(end) = live.ends.find(pid) else {
                let is_runner = self.is_runner(live, pid);
                self.at_once(id, runtime, |runtime, _| Err(runtime.processes().not_attachable(pid, is_runner)));
                return Ok(());
            };
            if self.begin(id, None)? {
                self.send_listening(id, pid);
                self.replies.outcome(id, end.outcome(), ErrorContext::runtime(runtime));
            }
            return Ok(());
        };
        if let Err(error) = listeners.check_room() {
            self.refuse(id, &convert::failure(&error, ErrorContext::runtime(runtime)));
        } else if self.begin(id, None)? {
            let streams = convert::streams(attach.stream);
            let before = listeners.streams();
            let all = Streams { stdout: streams.stdout || before.stdout, stderr: streams.stderr || before.stderr };
            self.replies.requests.listen(id, listeners.clone());
            self.send_listening(id, pid);
            process.observe(all, || listeners.add(id, streams));
        }
        Ok(())
    }

    fn send_listening(&self, id: RequestId, pid: Pid) {
        let started = Started { pid, earlier: None, listener: true };
        self.send(Message::of_request(Kind::Started, id, &started, 32));
    }

    /// Returns whether the process is a resident runner.
    fn is_runner(&self, live: &LiveRuntime, pid: Pid) -> bool {
        let runners = self.runners.lock();
        live.runners.iter().any(|runner| runners.get(*runner).is_some_and(|runner| runner.pid() == Some(pid)))
    }
}

/// Encodes the process table of a runtime.
fn table(reply: Reply, processes: &Processes) -> Message {
    let entries = processes.list();
    let table = ProcessTable {
        pids: entries.iter().map(|entry| entry.pid).collect(),
        ppids: entries.iter().map(|entry| entry.ppid).collect(),
        groups: entries.iter().map(|entry| entry.group).collect(),
        commands: entries.iter().map(|entry| entry.command.as_str()).collect(),
    };
    reply.body(&table, 64 + 64 * entries.len())
}
