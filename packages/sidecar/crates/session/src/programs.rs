//! Requests about programs and processes. Next: `sinks/`, which send the replies when programs end.

use std::sync::Arc;
use std::time::Duration;

use coldframe_core::{Error, ProcessOptions, Processes, Runtime};
use coldframe_ids::{RequestId, RuntimeId};
use coldframe_panics::process::Mutex;
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{ProcessAttach, ProcessRequest, ProcessStart, ProcessTable, Started};

use crate::convert;
use crate::message::Message;
use crate::replies::Reply;
use crate::session::{Handled, Session, Violation, answer};
use crate::sinks::ProgramSink;
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
            ProcessRequest::ProcessSignal(signal) => self.at_once(id, signal.runtime, |runtime, reply| {
                runtime.processes().signal(signal.pid, signal.signal)?;
                Ok(reply.done())
            }),
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
            terminal: start.terminal.map(convert::size),
        };
        let context = ErrorContext::runtime(start.runtime);
        let replies = self.replies.clone();
        let start = move |dispatch, turn| {
            let sink = Arc::new(ProgramSink { request: id, context, live, replies: replies.clone(), turn: Mutex::new(turn) });
            match runtime.contain(|runtime| runtime.start(options, sink, dispatch)) {
                Ok(process) => replies.requests.attach(id, process),
                Err(error) => replies.fail(id, &error, context),
            }
        };
        Ok(self.start(target, may_run_here && !live, start))
    }

    /// Attaches a request to a restored program.
    fn attach(&mut self, id: RequestId, attach: &ProcessAttach) -> Result<(), Violation> {
        let Some(live) = self.open_runtime(attach.runtime) else {
            self.refuse(id, &self.no_runtime(attach.runtime));
            return Ok(());
        };
        let orphan = live.orphans.as_ref().and_then(|orphans| orphans.get(&attach.pid)).cloned();
        let Some((process, sink)) = orphan else {
            let runners = self.runners.lock();
            let is_runner =
                live.runners.iter().any(|runner| runners.get(*runner).is_some_and(|runner| runner.pid() == Some(attach.pid)));
            drop(runners);
            self.at_once(id, attach.runtime, |runtime, _| Err(runtime.processes().not_attachable(attach.pid, is_runner)));
            return Ok(());
        };
        if self.begin(id, None)? {
            let live = self.runtimes.get_mut(attach.runtime);
            if let Some(orphans) = live.and_then(|live| live.orphans.as_mut()) {
                orphans.remove(&attach.pid);
            }
            self.replies.requests.attach(id, process.clone());
            let started = Started { pid: attach.pid, earlier: Some(process.most_captured()) };
            self.send(Message::of_request(Kind::Started, id, &started, 32));
            let streams = convert::streams(attach.stream);
            sink.attach(id, streams, || process.stream(streams));
        }
        Ok(())
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
