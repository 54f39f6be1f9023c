//! A filesystem for a copy of a runtime, until `fs/saved` makes it: the tree as it is, with what belongs to the new runtime.

use super::tree::FileSystem;

impl FileSystem {
    /// The rest is `base`'s.
    pub(crate) fn copied(&self, base: Self) -> Self {
        let mut made = self.clone();
        (made.limits, made.usage) = (base.limits, base.usage);
        made.mounts = base.mounts.into_iter().chain(self.mounts.iter().skip(1).cloned()).collect();
        made
    }
}
