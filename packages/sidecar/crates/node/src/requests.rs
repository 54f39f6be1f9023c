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
    /// An evaluation in that program, which goes on without it.
    evaluation: bool,
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

    /// A request has begun to wait. True: it is the only one.
    pub fn add(&self, id: u32, process: Option<Process>, evaluation: bool) -> bool {
        let mut table = self.table.borrow_mut();
        table.insert(id, Waiting { process, evaluation });
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
        Some((waiting.process.clone()?, waiting.evaluation))
    }
}
