//! The queue of a runtime's outside events. Next: `outgoing.rs`.

use coldframe_edge_link::Event;
pub use coldframe_kernel::{QueueListener, now_us};

/// The queue of one runtime.
pub(super) type EventQueue = coldframe_kernel::EventQueue<Event>;
/// An event and its time.
pub type TimedEvent = coldframe_kernel::TimedEvent<Event>;
/// Events in their order, and the number of lost events.
pub type OutsideEvents = coldframe_kernel::TakenEvents<Event>;
