//! Requests that wait, on Node's thread: what `cancel` and `credit` mean for each, and whether the event loop has to stay alive.

use std::cell::RefCell;
use std::collections::HashMap;

use coldframe_core::{Process, Runtime};

/// See the module.
#[derive(Default)]
pub struct Requests {
    table: RefCell<HashMap<u32, Waiting>>,
}

struct Waiting {
    /// The program that it is about, if it is about one.
    process: Option<Process>,
    /// The runner, of an evaluation: its program goes on without it. Else 0.
    runner: u32,
    /// It was canceled while its program slept, or was held.
    canceled: bool,
    /// Its program is on its way to sleep: what happens to it now would not happen to its copy.
    held: bool,
}

impl Requests {
    /// Whether a request with this id waits.
    pub fn has(&self, id: u32) -> bool {
        self.table.borrow().contains_key(&id)
    }

    /// Whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.table.borrow().is_empty()
    }

    /// A request has begun to wait; `runner` is 0 unless it is an evaluation there. True: it is the only one.
    pub fn add(&self, id: u32, process: Option<Process>, runner: u32) -> bool {
        let mut table = self.table.borrow_mut();
        table.insert(id, Waiting { process, runner, canceled: false, held: false });
        table.len() == 1
    }

    /// A request waits no more. True: it was the last one.
    pub fn remove(&self, id: u32) -> bool {
        let mut table = self.table.borrow_mut();
        let waiting = table.remove(&id);
        let last = waiting.is_some() && table.is_empty();
        drop(table);
        drop(waiting);
        last
    }

    /// Forgets all.
    pub fn clear(&self) {
        let all = self.table.take();
        drop(all);
    }

    /// The reader of a request's output has consumed some of it.
    pub fn credit(&self, id: u32, bytes: u64) {
        let process = self.table.borrow().get(&id).and_then(|waiting| waiting.process.clone());
        if let Some(process) = process {
            process.credit(bytes);
        }
    }

    /// Stops a request; its answer comes from the core.
    pub fn cancel(&self, id: u32) {
        let mut table = self.table.borrow_mut();
        let Some(waiting) = table.get_mut(&id) else { return };
        match waiting.process.clone() {
            Some(process) if !waiting.held => {
                let runner = waiting.runner;
                drop(table);
                stop(id, &process, runner);
            }
            _ => waiting.canceled = true,
        }
    }

    /// A runtime is on its way to sleep: who cancels one of its requests is heard when that has come to something.
    pub fn hold(&self, runtime: &Runtime) {
        for waiting in self.table.borrow_mut().values_mut() {
            // Those of another that is on its way too stay held.
            waiting.held |= waiting.process.as_ref().is_some_and(|process| process.is_of(runtime));
        }
    }

    /// It does not sleep after all.
    pub fn release(&self, runtime: &Runtime) {
        let mut canceled = Vec::new();
        for (id, waiting) in self.table.borrow_mut().iter_mut() {
            let Some(process) = waiting.process.as_ref().filter(|process| waiting.held && process.is_of(runtime)) else {
                continue;
            };
            waiting.held = false;
            if waiting.canceled {
                canceled.push((*id, process.clone(), waiting.runner));
            }
        }
        canceled.into_iter().for_each(|(id, process, runner)| stop(id, &process, runner));
    }

    /// The request's program sleeps: who cancels it is heard when it wakes up.
    pub fn detach(&self, id: u32) {
        if let Some(waiting) = self.table.borrow_mut().get_mut(&id) {
            (waiting.process, waiting.held) = (None, false);
        }
    }

    /// Which of these requests nobody has taken up.
    pub fn orphans(&self, of: &[u32]) -> Vec<u32> {
        let table = self.table.borrow();
        of.iter().filter(|id| table.get(id).is_some_and(|waiting| waiting.process.is_none())).copied().collect()
    }

    /// The request's program is another one from now on: a copy.
    pub fn attach(&self, id: u32, process: &Process) {
        let mut table = self.table.borrow_mut();
        let Some(waiting) = table.get_mut(&id) else { return };
        waiting.process = Some(process.clone());
        let (canceled, runner) = (waiting.canceled && !waiting.held, waiting.runner);
        drop(table);
        if canceled {
            stop(id, process, runner);
        }
    }

    /// Evaluations under way in a runner.
    pub fn evaluations(&self, runner: u32) -> Vec<u32> {
        let table = self.table.borrow();
        table.iter().filter(|(_, waiting)| waiting.runner == runner).map(|(id, _)| *id).collect()
    }
}

/// Ends a program, or one evaluation in it.
fn stop(id: u32, process: &Process, runner: u32) {
    if runner == 0 { process.cancel() } else { process.cancel_evaluation(id) }
}
