//! Connections and lookups outside the runtime. [`requests`] has the functions that the embedder
//! calls. Next: `requests.rs`.

mod requests;

use crate::outside::Outside;
use std::sync::Arc;

/// The flows and lookups in progress.
#[derive(Default)]
pub(super) struct OutsideState {
    /// Opens connections and looks up names. `None` means that nothing outside can be reached.
    outside: Option<Arc<dyn Outside>>,
}
