//! Handles the requests about resident runners: creating, evaluating, disposing.

use std::sync::Arc;
use std::time::Duration;

use coldframe_core::{EvaluationSettings, Mode, Process, ProcessOptions, Streams};
use coldframe_ids::{Pid, RequestId, RunnerId};
use coldframe_protocol::messages::{RunnerCreate, RunnerEval, RunnerOnly, RunnerRequest, Until};

use crate::convert;
use crate::replies::Reply;
use crate::session::{Handled, Session};
use crate::sinks::{Runner, RunnerSink};
use crate::table::ErrorContext;

impl Runner {
    /// Returns the pid of the runner's process.
    pub fn pid(&self) -> Option<Pid> {
        self.process.as_ref().map(Process::pid)
    }
}

impl Session {
    /// Handles a request about a runner.
    pub(crate) fn runner(&mut self, id: RequestId, request: RunnerRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            RunnerRequest::RunnerCreate(create) => self.create_runner(id, create, may_run_here),
            RunnerRequest::RunnerEval(eval) => self.evaluate(id, eval, may_run_here),
            RunnerRequest::RunnerDispose(RunnerOnly { runner }) => {
                self.dispose_runner(id, runner);
                Ok(None)
            }
            RunnerRequest::RunnerInterrupt(RunnerOnly { runner }) => {
                self.interrupt_runner(id, runner);
                Ok(None)
            }
        }
    }

    fn create_runner(&mut self, id: RequestId, create: RunnerCreate<'_>, may_run_here: bool) -> Handled {
        let runtime_id = create.runtime;
        if let Err(error) = self.runners.lock().check_room() {
            self.refuse(id, &convert::failure(&error, ErrorContext::runtime(runtime_id)));
            return Ok(None);
        }
        if self.open_runtime(runtime_id).is_none() {
            self.refuse(id, &self.no_runtime(runtime_id));
            return Ok(None);
        }
        if !self.begin(id, None)? {
            return Ok(None);
        }
        let Some(live) = self.runtimes.get_mut(runtime_id) else { return Ok(None) };
        let runners = Arc::clone(&self.runners);
        let runner = {
            let mut runners = runners.lock();
            let runner = runners.reserve();
            runners.insert(runner, Runner::new(runtime_id));
            runners.compact(&mut live.runners);
            runner
        };
        live.runners.push(runner);
        let runtime = live.runtime.clone();
        let options = ProcessOptions {
            mode: Mode::Resident,
            language: convert::runner_language(create.language),
            code: convert::shell_of(create.language),
            args: Vec::new(),
            exec_argv: Vec::new(),
            env: convert::pairs(create.env),
            cwd: create.cwd.map(str::to_owned),
            stdin: Vec::new(),
            timeout: None,
            limits: convert::numbers(create.limits),
            streams: Streams::default(),
            live: false,
            user: create.user.map(convert::owner),
            terminal: None,
            keeps_session: false,
        };
        let context = ErrorContext::runner_in(runtime_id, runner);
        let replies = self.replies.clone();
        let sink = Arc::new(RunnerSink::new(Some(id), runtime_id, runner, None, replies.clone()));
        let start = move |dispatch, turn| {
            sink.keep_turn(turn);
            match runtime.contain(|runtime| runtime.start(options, sink.clone(), dispatch)) {
                Ok(process) => {
                    // If the entry is missing, the runtime and this process were disposed while the
                    // runner was created.
                    if let Some(entry) = runners.lock().get_mut(runner) {
                        entry.process = Some(process.clone());
                    }
                    replies.requests.attach(id, process);
                    sink.entered();
                }
                Err(error) => {
                    runners.lock().remove(runner);
                    replies.fail(id, &error, context);
                }
            }
        };
        let Some(live) = self.runtimes.get(runtime_id) else { return Ok(None) };
        Ok(self.start(live, may_run_here, start))
    }

    fn evaluate(&mut self, id: RequestId, eval: RunnerEval<'_>, may_run_here: bool) -> Handled {
        let runner = eval.runner;
        let found = self.runners.lock().get(runner).and_then(|found| Some((found.process.clone()?, found.runtime)));
        let Some((process, runtime)) = found.filter(|(_, runtime)| !self.is_paused(*runtime)) else {
            self.refuse(id, &self.no_runner(runner));
            return Ok(None);
        };
        if !self.begin(id, Some(runner))? {
            return Ok(None);
        }
        let replies = self.replies.clone();
        replies.requests.attach(id, process.clone());
        let (code, streams) = (eval.code.to_owned(), convert::streams(eval.stream));
        let settings = EvaluationSettings {
            returns: eval.returns.unwrap_or(false),
            env: convert::pairs(eval.env),
            cwd: eval.cwd.map(str::to_owned),
            until_value: eval.until == Some(Until::Value),
            cell: eval.cell.map(convert::cell_language),
        };
        let timeout = eval.timeout_ms.map(Duration::from_millis);
        Ok(self.start_evaluation(runtime, may_run_here, move |dispatch| {
            let evaluation = id.evaluation();
            if let Err(error) =
                process.contain(|process| process.evaluate(evaluation, code, settings, timeout, streams, dispatch))
            {
                replies.fail(id, &error, ErrorContext::runner(runner));
            }
        }))
    }

    fn interrupt_runner(&mut self, id: RequestId, runner: RunnerId) {
        let found = self.runners.lock().get(runner).and_then(|found| Some((found.process.clone()?, found.runtime)));
        match found.filter(|(_, runtime)| !self.is_paused(*runtime)) {
            Some((process, _)) => {
                process.notify(Process::interrupt);
                self.send(Reply(id).done());
            }
            None => self.refuse(id, &self.no_runner(runner)),
        }
    }

    fn dispose_runner(&mut self, id: RequestId, runner: RunnerId) {
        let removed = self.runners.lock().remove(runner);
        match removed {
            Some(removed) => {
                if let Some(process) = removed.process {
                    process.notify(Process::cancel);
                }
                self.send(Reply(id).done());
            }
            None => self.refuse(id, &self.no_runner(runner)),
        }
    }
}
