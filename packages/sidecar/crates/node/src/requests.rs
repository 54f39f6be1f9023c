//! Requests that wait, on Node's thread: what `cancel` and `credit` mean for each, and whether the event loop has to stay alive.

use std::cell::RefCell;
use std::collections::HashMap;

use coldframe_core::Process;

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
    /// It was canceled while its program slept.
    canceled: bool,
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
        table.insert(id, Waiting { process, runner, canceled: false });
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

    /// The program of a request, and whether the request is an evaluation in it.
    pub fn target(&self, id: u32) -> Option<(Process, bool)> {
        let table = self.table.borrow();
        let waiting = table.get(&id)?;
        Some((waiting.process.clone()?, waiting.runner != 0))
    }

    /// The request's program sleeps: who cancels it is heard when it wakes up.
    pub fn detach(&self, id: u32) {
        if let Some(waiting) = self.table.borrow_mut().get_mut(&id) {
            waiting.process = None;
        }
    }

    /// A request whose program sleeps is canceled.
    pub fn cancel_later(&self, id: u32) {
        if let Some(waiting) = self.table.borrow_mut().get_mut(&id) {
            waiting.canceled = true;
        }
    }

    /// The request's program is another one from now on: a copy.
    pub fn attach(&self, id: u32, process: &Process) {
        let mut table = self.table.borrow_mut();
        let Some(waiting) = table.get_mut(&id) else { return };
        waiting.process = Some(process.clone());
        let (canceled, runner) = (waiting.canceled, waiting.runner);
        drop(table);
        match canceled {
            true if runner != 0 => process.cancel_evaluation(id),
            true => process.cancel(),
            false => {}
        }
    }

    /// Evaluations under way in a runner.
    pub fn evaluations(&self, runner: u32) -> Vec<u32> {
        let table = self.table.borrow();
        table.iter().filter(|(_, waiting)| waiting.runner == runner).map(|(id, _)| *id).collect()
    }
}
