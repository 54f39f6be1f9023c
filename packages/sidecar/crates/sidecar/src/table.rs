//! Runtimes and runners by number: numbers only grow, so that one that is gone can be told from one that never was.

use std::collections::HashMap;

use coldframe_core::Error;

/// See the module.
pub struct Table<T> {
    items: HashMap<u32, T>,
    last: u32,
    name: &'static str,
    limit: usize,
}

impl<T> Table<T> {
    /// An empty table for at most `limit` items.
    pub fn new(name: &'static str, limit: usize) -> Self {
        Self { items: HashMap::new(), last: 0, name, limit }
    }

    /// Fails when the table is full.
    pub fn check_room(&self) -> Result<(), Error> {
        match self.items.len() < self.limit {
            true => Ok(()),
            false => Err(Error::ResourceExhausted { resource: self.name, limit: self.limit as u64 }),
        }
    }

    /// A number that no item has: never 0, and the one after the last one unless all 2^32 have been used once.
    pub fn reserve(&mut self) -> u32 {
        loop {
            self.last = self.last.checked_add(1).unwrap_or(1);
            if !self.items.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    /// Puts an item under a reserved number.
    pub fn put(&mut self, number: u32, item: T) {
        self.items.insert(number, item);
    }

    /// The item of that number.
    pub fn get(&self, number: u32) -> Option<&T> {
        self.items.get(&number)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(&number)
    }

    /// Takes the item out.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        self.items.remove(&number)
    }

    /// Takes numbers whose items are gone out of a list that keeps growing: whenever it has doubled, so that it costs nothing on average.
    pub fn tidy(&self, numbers: &mut Vec<u32>) {
        if numbers.len().is_power_of_two() {
            numbers.retain(|number| self.items.contains_key(number));
        }
    }

    /// Whether there has been an item of that number.
    pub fn has_been(&self, number: u32) -> bool {
        (1..=self.last).contains(&number)
    }
}

/// Where a request runs: what an error that is about a runtime or a runner has to name.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The runtime's number.
    pub runtime: u32,
    /// The runner's number; 0 for a program of its own.
    pub runner: u32,
}

impl Place {
    /// The facts that `docs/internals/protocol.md` asks for beside the core's own.
    pub fn facts(self, error: &Error) -> Option<(&'static str, u32)> {
        match error {
            Error::RuntimeDisposed | Error::RuntimePaused => Some(("runtime", self.runtime)),
            Error::RunnerExited { .. } => Some(("runner", self.runner)),
            _ => None,
        }
    }
}
