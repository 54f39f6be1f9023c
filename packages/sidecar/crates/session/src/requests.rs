//! The table of requests in flight. The table finds the target of `credit` and `cancel`, and
//! ensures that each request is answered exactly once.
//!
//! Only the session's thread adds requests. A thread that answers a request first removes the
//! request. Only the thread that removed the request sends the reply. If a program ends on the
//! calling thread, its request is answered before the table has the process. Therefore
//! [`Requests::attach`] may find no request.

use std::collections::HashMap;
use std::sync::Arc;

use coldframe_core::Error;
use coldframe_ids::{RequestId, RunnerId};

use super::sinks::Listeners;
use super::sync::{Mutex, Process, Runtime};

/// The largest number of requests in flight.
const LIMIT: usize = 16_384;

/// The requests in flight of a session.
#[derive(Default)]
pub(crate) struct Requests {
    table: Mutex<HashMap<RequestId, InFlight>>,
}

struct InFlight {
    /// The process. `None` until the core has returned the process, and while the runtime is
    /// paused.
    process: Option<Process>,
    /// Whether `cancel` has arrived. A later process of the request is stopped too: the first
    /// process, or the process that a rollback or a resume puts in its place.
    canceled: bool,
    /// Whether the program's runtime is being paused. A `cancel` is stored, because ending the
    /// program would not affect the restored program.
    held: bool,
    /// The runner of an evaluation. The runner's program outlives the request.
    runner: Option<RunnerId>,
    /// The listeners that the request belongs to. A request of a listener has no process.
    listeners: Option<Arc<Listeners>>,
}

impl Requests {
    /// Adds a request. `runner` is set for an evaluation. Returns `Ok(false)` if the id is in use.
    pub fn begin(&self, id: RequestId, runner: Option<RunnerId>) -> Result<bool, Error> {
        let mut table = self.table.lock();
        if table.len() >= LIMIT {
            return Err(Error::ResourceExhausted { resource: "requests", limit: LIMIT as u64 });
        }
        if table.contains_key(&id) {
            return Ok(false);
        }
        table.insert(id, InFlight { process: None, canceled: false, held: false, runner, listeners: None });
        Ok(true)
    }

    /// Returns whether no request is in flight.
    pub fn is_empty(&self) -> bool {
        self.table.lock().is_empty()
    }

    /// Returns whether the request is in flight.
    pub fn contains(&self, id: RequestId) -> bool {
        self.table.lock().contains_key(&id)
    }

    /// Sets the process of a request, unless the request has been answered.
    pub fn attach(&self, id: RequestId, process: Process) {
        let mut table = self.table.lock();
        let Some(request) = table.get_mut(&id) else { return };
        let (canceled, runner) = (request.canceled, request.runner);
        request.process = Some(process.clone());
        let canceled = canceled && !request.held;
        drop(table);
        if canceled {
            stop(id, &process, runner);
        }
    }

    /// Makes a request a listener of a program.
    pub fn listen(&self, id: RequestId, listeners: Arc<Listeners>) {
        if let Some(request) = self.table.lock().get_mut(&id) {
            request.listeners = Some(listeners);
        }
    }

    /// Defers cancellation of a runtime's requests while the runtime is being paused.
    pub fn hold(&self, runtime: &Runtime) {
        for request in self.table.lock().values_mut() {
            // Requests of another runtime that is being paused stay held.
            request.held |= request.process.as_ref().is_some_and(|process| process.is_of(runtime));
        }
    }

    /// Sends the cancellations that [`Requests::hold`] deferred, because the pause has failed.
    pub fn release(&self, runtime: &Runtime) {
        let mut canceled = Vec::new();
        for (id, request) in self.table.lock().iter_mut() {
            let Some(process) = request.process.as_ref().filter(|process| request.held && process.is_of(runtime)) else {
                continue;
            };
            request.held = false;
            if request.canceled {
                canceled.push((*id, process.clone(), request.runner));
            }
        }
        canceled.into_iter().for_each(|(id, process, runner)| stop(id, &process, runner));
    }

    /// Removes the process of a request whose program is paused. A `cancel` takes effect on resume.
    pub fn detach(&self, id: RequestId) {
        if let Some(request) = self.table.lock().get_mut(&id) {
            (request.process, request.held) = (None, false);
        }
    }

    /// Returns the requests of a list that have no process.
    pub fn without_process(&self, of: &[RequestId]) -> Vec<RequestId> {
        let table = self.table.lock();
        of.iter().filter(|id| table.get(id).is_some_and(|request| request.process.is_none())).copied().collect()
    }

    /// Returns the unanswered evaluations of a runner.
    pub fn evaluations(&self, runner: RunnerId) -> Vec<RequestId> {
        let table = self.table.lock();
        table.iter().filter(|(_, request)| request.runner == Some(runner)).map(|(id, _)| *id).collect()
    }

    /// Removes a request that the caller is about to answer. Returns false if the request has been
    /// answered.
    pub fn finish(&self, id: RequestId) -> bool {
        self.table.lock().remove(&id).is_some()
    }

    /// Returns credit for output to the request's program.
    pub fn credit(&self, id: RequestId, bytes: u64) {
        let (process, listeners) = match self.table.lock().get(&id) {
            Some(request) => (request.process.clone(), request.listeners.clone()),
            None => return,
        };
        if let Some(listeners) = listeners {
            listeners.credit(id, bytes);
        }
        if let Some(process) = process {
            process.notify(|process| process.credit(bytes));
        }
    }

    /// Stops a request. A listener is detached. Otherwise the core ends the request's program or
    /// evaluation, and the program's sink sends the reply.
    pub fn cancel(&self, id: RequestId) {
        let mut table = self.table.lock();
        let Some(request) = table.get_mut(&id) else { return };
        request.canceled = true;
        let (process, runner) = (request.process.clone().filter(|_| !request.held), request.runner);
        let listeners = request.listeners.clone();
        // The core may answer the request within the call.
        drop(table);
        if let Some(listeners) = listeners {
            return listeners.remove(id);
        }
        if let Some(process) = process {
            stop(id, &process, runner);
        }
    }
}

/// Ends a program, or one evaluation of a resident program.
fn stop(id: RequestId, process: &Process, runner: Option<RunnerId>) {
    process.notify(|process| match runner {
        None => process.cancel(),
        Some(_) => process.cancel_evaluation(id.evaluation()),
    });
}
