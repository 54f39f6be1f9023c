//! Requests in flight: what to do with a `credit` or `cancel` for one, and the proof that each is answered exactly once.
//!
//! Only the reading thread puts requests in; whoever answers one takes it out first, and only who got it out answers. A program that ends
//! on the calling thread is answered before its handle is known here, which is why [`Requests::attach`] may find nothing.

use std::collections::HashMap;

use coldframe_core::{Error, Process, Runtime};
use parking_lot::Mutex;

/// How many may be in flight.
const LIMIT: usize = 16_384;

/// See the module.
#[derive(Default)]
pub struct Requests {
    table: Mutex<HashMap<u32, InFlight>>,
}

struct InFlight {
    /// Known as soon as the core has given it back.
    process: Option<Process>,
    /// `cancel` came before `process` was known, or while it was held.
    canceled: bool,
    /// Its program is on its way to sleep: what happens to it now would not happen to its copy.
    held: bool,
    /// The runner, of an evaluation: its program goes on without it. Else 0.
    runner: u32,
}

impl Requests {
    /// Takes a request in; `runner` is 0 unless it is an evaluation there. `Ok(false)`: its id is in use.
    pub fn begin(&self, id: u32, runner: u32) -> Result<bool, Error> {
        let mut table = self.table.lock();
        if table.len() >= LIMIT {
            return Err(Error::ResourceExhausted { resource: "requests", limit: LIMIT as u64 });
        }
        if table.contains_key(&id) {
            return Ok(false);
        }
        table.insert(id, InFlight { process: None, canceled: false, held: false, runner });
        Ok(true)
    }

    /// Whether none is in flight.
    pub fn is_empty(&self) -> bool {
        self.table.lock().is_empty()
    }

    /// The request's program is running, unless it has ended meanwhile.
    pub fn attach(&self, id: u32, process: Process) {
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

    /// A runtime is on its way to sleep: who cancels one of its requests is heard when that has come to something.
    pub fn hold(&self, runtime: &Runtime) {
        for request in self.table.lock().values_mut() {
            // Those of another that is on its way too stay held.
            request.held |= request.process.as_ref().is_some_and(|process| process.is_of(runtime));
        }
    }

    /// It does not sleep after all.
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

    /// The request's program sleeps: who cancels it is heard when it wakes up.
    pub fn detach(&self, id: u32) {
        if let Some(request) = self.table.lock().get_mut(&id) {
            (request.process, request.held) = (None, false);
        }
    }

    /// Which of these requests nobody has taken up.
    pub fn orphans(&self, of: &[u32]) -> Vec<u32> {
        let table = self.table.lock();
        of.iter().filter(|id| table.get(id).is_some_and(|request| request.process.is_none())).copied().collect()
    }

    /// Evaluations under way in a runner.
    pub fn evaluations(&self, runner: u32) -> Vec<u32> {
        let table = self.table.lock();
        table.iter().filter(|(_, request)| request.runner == runner).map(|(id, _)| *id).collect()
    }

    /// Takes a request out in order to answer it. False: it has been answered.
    pub fn finish(&self, id: u32) -> bool {
        self.table.lock().remove(&id).is_some()
    }

    /// The reader of a request's output has consumed some of it.
    pub fn credit(&self, id: u32, bytes: u64) {
        let process = self.table.lock().get(&id).and_then(|request| request.process.clone());
        if let Some(process) = process {
            process.credit(bytes);
        }
    }

    /// Stops a request; its answer comes from the core.
    pub fn cancel(&self, id: u32) {
        let mut table = self.table.lock();
        let Some(request) = table.get_mut(&id) else { return };
        match request.process.clone() {
            Some(process) if !request.held => {
                let runner = request.runner;
                // The core may answer the request within the call.
                drop(table);
                stop(id, &process, runner);
            }
            _ => request.canceled = true,
        }
    }
}

/// Ends a program, or one evaluation in it.
fn stop(id: u32, process: &Process, runner: u32) {
    if runner == 0 { process.cancel() } else { process.cancel_evaluation(id) }
}
