//! Clocks and entropy. Next: `polling.rs`.

use super::context::{Outcome, put_u64};
use crate::access::Call;
use crate::imports::fill_with_entropy;
use coldframe_error::Errno;
use coldframe_sys as sys;

pub(super) const REALTIME: u32 = 0;
pub(super) const MONOTONIC: u32 = 1;
const PROCESS_CPU: u32 = 2;
const THREAD_CPU: u32 = 3;

pub(super) async fn clock_res_get(call: &mut Call<'_>, clock: u32, out: u32) -> Outcome {
    if clock > THREAD_CPU {
        return Err(Errno::EINVAL.into());
    }
    put_u64(call, out, 1)
}

pub(super) async fn clock_time_get(call: &mut Call<'_>, clock: u32, _precision: u64, out: u32) -> Outcome {
    let now = match clock {
        REALTIME => sys::wall_ns(),
        MONOTONIC => call.data().clock().now(),
        PROCESS_CPU | THREAD_CPU => call.data().refs.owner.meter().cpu_ns_now(),
        _ => return Err(Errno::EINVAL.into()),
    };
    put_u64(call, out, now)
}

pub(super) async fn random_get(call: &mut Call<'_>, buffer: u32, len: u32) -> Outcome {
    Ok(fill_with_entropy(call, buffer, len)?)
}
