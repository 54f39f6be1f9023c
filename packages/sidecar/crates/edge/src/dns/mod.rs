//! Look-ups of names. Next: `look_up.rs`, `resolve.rs`, `exchange.rs`, `records.rs`.

mod cache;
mod exchange;
mod look_up;
mod nat64;
mod query;
mod records;
mod requests;
mod resolve;
mod single_flight;

pub use cache::Cache;
pub use exchange::addresses_of_operator;
use look_up::look_up;
pub use query::Queried;
use query::query;
pub use requests::{serve_look_up, serve_query};
pub use resolve::{Resolution, Unresolved, resolve};
pub use single_flight::SingleFlight;
