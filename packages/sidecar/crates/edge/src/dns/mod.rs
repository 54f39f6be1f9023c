//! Look-ups of names. Next: `look_up.rs`, `resolve.rs`, `exchange.rs`, `records.rs`.

mod cache;
mod exchange;
mod look_up;
mod query;
mod records;
mod resolve;

pub use cache::Cache;
pub use look_up::look_up;
pub use query::query;
pub use resolve::{Unresolved, resolve};
