//! The sidecar's requests for look-ups and queries. A failure is reported in the pace of the
//! runtime's failures. Next: `look_up.rs`, `query.rs`.

use super::{look_up, query};
use crate::describe;
use crate::limits::MAX_REFUSED;
use crate::link::{Request, Shared};
use crate::runtime::{MAX_LOOK_UPS, Runtime};
use coldframe_edge_link::{Failure, LookUpFamily, ToSidecar};

/// Looks the addresses of a name up.
pub fn serve_look_up(shared: &Shared, reply: Request, id: u64, name: String, family: LookUpFamily) {
    let shown = describe::shortened(&name);
    let run = async move |runtime: &Runtime| {
        let addresses = look_up(runtime, &name, family).await?;
        Ok(ToSidecar::Addresses { addresses })
    };
    serve(shared, reply, id, &shown, run);
}

/// Queries the records of a name.
pub fn serve_query(shared: &Shared, reply: Request, id: u64, name: String, record_type: u16) {
    let shown = describe::shortened(&name);
    let run = async move |runtime: &Runtime| {
        let json = query(runtime, &name, record_type).await?;
        Ok(ToSidecar::Records { json })
    };
    serve(shared, reply, id, &shown, run);
}

/// Runs a request in the runtime's task.
fn serve<F>(shared: &Shared, reply: Request, id: u64, shown: &str, run: F)
where
    F: AsyncFnOnce(&Runtime) -> Result<ToSidecar<'static>, Failure> + 'static,
{
    let Some(of) = shared.runtime(id) else {
        let failure = describe::refusal(format_args!("the look-up of {shown}"), describe::no_policy());
        return reply.reply(&ToSidecar::Failed { failure });
    };
    let runtime = of.clone();
    of.spawn(async move {
        let result = run_within_limit(&runtime, run).await;
        if result.is_err() && take_place(&runtime) {
            runtime.pace_failure().await;
            runtime.state.borrow_mut().refused_look_ups -= 1;
        }
        reply.finish(result, |message| message);
    });
}

async fn run_within_limit<F>(runtime: &Runtime, run: F) -> Result<ToSidecar<'static>, Failure>
where
    F: AsyncFnOnce(&Runtime) -> Result<ToSidecar<'static>, Failure>,
{
    if runtime.state.borrow().look_ups >= MAX_LOOK_UPS {
        return Err(runtime.limit("lookups"));
    }
    runtime.state.borrow_mut().look_ups += 1;
    let result = run(runtime).await;
    runtime.state.borrow_mut().look_ups -= 1;
    result
}

/// Takes a place among the failures that wait. Returns whether a place was free.
fn take_place(runtime: &Runtime) -> bool {
    let mut state = runtime.state.borrow_mut();
    let is_free = state.refused_look_ups < MAX_REFUSED;
    state.refused_look_ups += usize::from(is_free);
    is_free
}
