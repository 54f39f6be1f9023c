//! Requests in flight: what to do with a `credit` or `cancel` for one, and the proof that each is answered exactly once.
//!
//! Only the reading thread puts requests in; whoever answers one takes it out first, and only who got it out answers. A program that ends
//! on the calling thread is answered before its handle is known here, which is why [`Requests::attach`] may find nothing.

use std::collections::HashMap;

use coldframe_core::{Error, Process};
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
    /// `cancel` came before `process` was known.
    canceled: bool,
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
        table.insert(id, InFlight { process: None, canceled: false, runner });
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
        drop(table);
        match canceled {
            true if runner != 0 => process.cancel_evaluation(id),
            true => process.cancel(),
            false => {}
        }
    }

    /// The request's program sleeps: who cancels it is heard when it wakes up.
    pub fn detach(&self, id: u32) {
        if let Some(request) = self.table.lock().get_mut(&id) {
            request.process = None;
        }
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
        if let Some((process, _)) = self.target(id) {
            process.credit(bytes);
        }
    }

    /// Stops a request; its answer comes from the core.
    pub fn cancel(&self, id: u32) {
        match self.target(id) {
            Some((process, true)) => process.cancel_evaluation(id),
            Some((process, false)) => process.cancel(),
            None => {
                if let Some(request) = self.table.lock().get_mut(&id) {
                    request.canceled = true;
                }
            }
        }
    }

    /// The program of a request and whether the request is an evaluation in it. The lock is not held when the core is called: the
    /// core may answer the request within the call.
    fn target(&self, id: u32) -> Option<(Process, bool)> {
        let table = self.table.lock();
        let request = table.get(&id)?;
        Some((request.process.clone()?, request.runner != 0))
    }
}
