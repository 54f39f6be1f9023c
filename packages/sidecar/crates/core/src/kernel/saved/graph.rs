//! Descriptions are shared between tables and lie in sockets: copies share them in the same way.

use crate::kernel::descriptors::{Description, Target};
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub(crate) struct Graph(Vec<Arc<Description>>);

impl Graph {
    pub(crate) fn index_of(&mut self, description: &Arc<Description>) -> u32 {
        let known = self.0.iter().position(|known| Arc::ptr_eq(known, description));
        let at = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(description.clone());
        }
        at as u32
    }

    pub(crate) fn get(&self, at: u32) -> Option<Arc<Description>> {
        self.0.get(at as usize).cloned()
    }

    pub(crate) fn revive(&self) -> Self {
        let copy = |description: &Arc<Description>| {
            let target = match &description.target {
                Target::Stream { owner, fd } => Target::Stream { owner: *owner, fd: *fd },
                Target::Socket(id) => Target::Socket(*id),
                Target::File(ino) => Target::File(*ino),
                Target::Directory(place) => Target::Directory(place.clone()),
                Target::Device(device, ino) => Target::Device(*device, *ino),
                Target::Host(_) => Target::Stream { owner: 0, fd: 0 },
            };
            let made = Description::new(target, description.flags);
            made.position.lock().offset = description.position.lock().offset;
            Arc::new(made)
        };
        Self(self.0.iter().map(copy).collect())
    }
}
