//! Waits for descriptors and clocks. Next: `paths.rs`.

use super::clocks::{MONOTONIC, REALTIME};
use super::context::{Outcome, put, put_u32, take, u32_at, u64_at};
use super::errors;
use crate::access::{Call, stopped};
use crate::owner::{Checkpoint, checkpoint};
use coldframe_error::Errno;
use coldframe_kernel::{self as kernel, Fd};
use coldframe_sys as sys;

const SUBSCRIPTION: usize = 48;
const EVENT: usize = 32;
/// The most subscriptions of one call.
const MAX_SUBSCRIPTIONS: u32 = 1_024;

const CLOCK: u8 = 0;
const FD_READ: u8 = 1;
const FD_WRITE: u8 = 2;
const ABSOLUTE: u32 = 1;
/// WASI's flag of an event on a descriptor whose other end is closed.
const HANGUP: u8 = 1;

/// A subscription.
#[derive(Debug, PartialEq, Eq)]
struct Subscription {
    user_data: u64,
    kind: u8,
    what: What,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    /// A time in nanoseconds of the host machine's monotonic clock.
    Deadline(u64),
    /// A descriptor, and the mask of its events.
    Descriptor(u32, u32),
    /// An unknown kind or clock.
    Nothing,
}

/// An event, before its encoding.
struct Occurrence {
    error: i32,
    flags: u8,
}

/// Yields the worker if the time slice is over.
pub(super) async fn sched_yield(call: &mut Call<'_>) -> Outcome {
    let owner = call.data().refs.owner.clone();
    match checkpoint(&*owner).await {
        Checkpoint::Continue => Ok(()),
        Checkpoint::Interrupt => Err(Errno::EINTR.into()),
        Checkpoint::End => Err(stopped().into()),
    }
}

/// Waits until a descriptor is ready or a time has passed. Fails with `EINTR` if the program's work
/// must stop, and if a signal arrives that the program takes.
pub(super) async fn poll_oneoff(call: &mut Call<'_>, subscriptions: u32, events: u32, count: u32, out: u32) -> Outcome {
    if count == 0 || count > MAX_SUBSCRIPTIONS {
        return Err(Errno::EINVAL.into());
    }
    let bytes = take(call, subscriptions, count * SUBSCRIPTION as u32)?;
    let subscriptions: Vec<_> = bytes.as_chunks::<SUBSCRIPTION>().0.iter().map(|bytes| subscription(call, bytes)).collect();
    let descriptors = subscriptions.iter().filter_map(|subscription| match subscription.what {
        What::Descriptor(fd, mask) => Some((Fd::new(fd), mask)),
        _ => None,
    });
    let descriptors: Vec<_> = descriptors.collect();
    let deadlines = subscriptions.iter().filter_map(|subscription| match subscription.what {
        What::Deadline(at) => Some(at),
        _ => None,
    });
    let deadline = deadlines.min();
    let caller = call.data().refs.caller.clone();
    let mut now = sys::monotonic_ns();
    let occurred = loop {
        let occurred = occurrences(call, &subscriptions, now);
        if !occurred.is_empty() {
            break occurred;
        }
        // Another process may take the bytes that ended the wait. The call then waits again.
        let has_timed_out = kernel::wait_for_any(&caller, &descriptors, deadline).await? == 1;
        now = sys::monotonic_ns().max(if has_timed_out { deadline.unwrap_or(0) } else { 0 });
    };
    let mut encoded = Vec::with_capacity(occurred.len() * EVENT);
    for (subscription, Occurrence { error, flags }) in &occurred {
        encoded.extend(subscription.user_data.to_le_bytes());
        encoded.extend((*error as u16).to_le_bytes());
        encoded.extend([subscription.kind, 0, 0, 0, 0, 0]);
        // The number of bytes that can be moved is not known. Programs only use a value above 0.
        encoded.extend(u64::from(*error == errors::SUCCESS && subscription.kind != CLOCK).to_le_bytes());
        encoded.extend([*flags, 0, 0, 0, 0, 0, 0, 0]);
    }
    put(call, events, &encoded)?;
    put_u32(call, out, occurred.len() as i64)
}

fn subscription(call: &Call<'_>, bytes: &[u8; SUBSCRIPTION]) -> Subscription {
    let kind = bytes[8];
    let what = match kind {
        CLOCK => deadline(call, u32_at(bytes, 16), u64_at(bytes, 24), u32_at(bytes, 40) & ABSOLUTE != 0),
        FD_READ => What::Descriptor(u32_at(bytes, 16), kernel::IN),
        FD_WRITE => What::Descriptor(u32_at(bytes, 16), kernel::OUT),
        _ => What::Nothing,
    };
    Subscription { user_data: u64_at(bytes, 0), kind, what }
}

/// Converts a time of a clock to the host machine's monotonic clock.
fn deadline(call: &Call<'_>, clock: u32, time: u64, is_absolute: bool) -> What {
    let now = sys::monotonic_ns();
    match (clock, is_absolute) {
        (REALTIME | MONOTONIC, false) => What::Deadline(now.saturating_add(time)),
        (MONOTONIC, true) => What::Deadline(call.data().clock().host(time)),
        (REALTIME, true) => What::Deadline(now.saturating_add(time.saturating_sub(sys::wall_ns()))),
        _ => What::Nothing,
    }
}

/// Returns the events of the subscriptions at `now`.
fn occurrences<'s>(call: &Call<'_>, subscriptions: &'s [Subscription], now: u64) -> Vec<(&'s Subscription, Occurrence)> {
    let caller = &call.data().refs.caller;
    let occurred = |subscription: &Subscription| match subscription.what {
        What::Nothing => Some(Occurrence { error: errors::number(Errno::EINVAL), flags: 0 }),
        What::Deadline(at) => (now >= at).then_some(Occurrence { error: errors::SUCCESS, flags: 0 }),
        What::Descriptor(fd, mask) => match kernel::readiness(&**caller, Fd::new(fd), mask) {
            Ok(0) => None,
            Ok(ready) => {
                let flags = if ready & (kernel::HUP | kernel::ERR) != 0 { HANGUP } else { 0 };
                Some(Occurrence { error: errors::SUCCESS, flags })
            }
            Err(errno) => Some(Occurrence { error: errors::number(errno), flags: 0 }),
        },
    };
    subscriptions.iter().filter_map(|subscription| Some((subscription, occurred(subscription)?))).collect()
}
