//! A table of objects by id. Each new id is larger than all earlier ids, so that an id of a removed
//! object differs from an id that never existed. Numbers are used again only after 2^32 ids.

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU32;

use coldframe_core::Error;
use coldframe_ids::{RunnerId, RuntimeId};

/// Objects of one kind, by id.
pub(crate) struct IdTable<I, T> {
    items: HashMap<I, T>,
    last: u32,
    resource: &'static str,
    limit: usize,
}

impl<I: Copy + Eq + Hash + From<NonZeroU32>, T> IdTable<I, T> {
    /// Makes an empty table for at most `limit` objects. Errors name the objects `resource`.
    pub fn new(resource: &'static str, limit: usize) -> Self {
        Self { items: HashMap::new(), last: 0, resource, limit }
    }

    /// Fails if the table is full.
    pub fn check_room(&self) -> Result<(), Error> {
        match self.items.len() < self.limit {
            true => Ok(()),
            false => Err(Error::ResourceExhausted { resource: self.resource, limit: self.limit as u64 }),
        }
    }

    /// Returns an unused id: the last reserved id plus one. After the largest number, the search
    /// for an unused id starts again at 1.
    pub fn reserve(&mut self) -> I {
        loop {
            self.last = self.last.wrapping_add(1);
            let Some(number) = NonZeroU32::new(self.last) else { continue };
            let id = I::from(number);
            if !self.items.contains_key(&id) {
                return id;
            }
        }
    }

    /// Inserts an object under a reserved id.
    pub fn insert(&mut self, id: I, item: T) {
        self.items.insert(id, item);
    }

    /// Returns the object with this id.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(&id)
    }

    /// Returns the object with this id, for changes.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(&id)
    }

    /// Removes and returns the object with this id.
    pub fn remove(&mut self, id: I) -> Option<T> {
        self.items.remove(&id)
    }

    /// Removes ids without an object from a list that grows. The work happens whenever the list has
    /// doubled, so the cost of each insertion is constant on average.
    pub fn compact(&self, ids: &mut Vec<I>) {
        if ids.len().is_power_of_two() {
            ids.retain(|id| self.items.contains_key(id));
        }
    }
}

impl<T> IdTable<RuntimeId, T> {
    /// Returns whether this id was reserved for a runtime before.
    pub fn has_existed(&self, id: RuntimeId) -> bool {
        id.get() <= self.last
    }
}

impl<T> IdTable<RunnerId, T> {
    /// Returns whether this id was reserved for a runner before.
    pub fn has_existed(&self, id: RunnerId) -> bool {
        id.get() <= self.last
    }
}

/// The ids of an error's runtime and runner, which the error's facts need and the core does not
/// have.
#[derive(Debug, Clone, Copy, Default)]
pub struct ErrorContext {
    runtime: Option<RuntimeId>,
    runner: Option<RunnerId>,
}

impl ErrorContext {
    /// A context without a runtime.
    pub const NONE: Self = Self { runtime: None, runner: None };

    /// Makes the context of a request about a runtime.
    pub(crate) fn runtime(id: RuntimeId) -> Self {
        Self { runtime: Some(id), runner: None }
    }

    /// Makes the context of a request about a runner whose runtime is unknown.
    pub(crate) fn runner(id: RunnerId) -> Self {
        Self { runtime: None, runner: Some(id) }
    }

    /// Makes the context of a runner in a runtime.
    pub(crate) fn runner_in(runtime: RuntimeId, runner: RunnerId) -> Self {
        Self { runtime: Some(runtime), runner: Some(runner) }
    }

    /// Returns the fact that `docs/internals/protocol.md` requires for `error` in addition to the
    /// core's facts.
    pub fn fact(self, error: &Error) -> Option<(&'static str, u32)> {
        match error {
            Error::RuntimeDisposed | Error::RuntimePaused => Some(("runtime", self.runtime?.get())),
            Error::RunnerExited { .. } => Some(("runner", self.runner?.get())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_used_ids_after_the_last_number() {
        let mut table = IdTable::<RuntimeId, ()>::new("runtimes", 10);
        let first = table.reserve();
        table.insert(first, ());
        table.last = u32::MAX - 1;
        assert_eq!(table.reserve().get(), u32::MAX);
        assert_eq!(table.reserve().get(), 2);
    }

    #[test]
    fn distinguishes_a_removed_id_from_an_id_that_never_existed() {
        let mut table = IdTable::<RunnerId, ()>::new("runners", 10);
        let id = table.reserve();
        table.insert(id, ());
        table.remove(id);
        assert!(table.has_existed(id));
        assert!(!table.has_existed(RunnerId::new(2).unwrap()));
    }
}
