//! Contains the panics of the embedder's calls. Next: `program/containment.rs`, the panics of a
//! program's work.

use coldframe_error::{Ended, Error};
use coldframe_panics::{Health, Panic, contain};

/// Runs work of a request that belongs to no runtime. A panic becomes `ERR_INTERNAL`.
pub fn contained<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // The work changes no existing runtime: after a panic, a runtime that was being made is
    // dropped.
    let nothing = Health::default();
    contain(&nothing, work).unwrap_or_else(|panic| Err(internal(panic, Ended::Request)))
}

/// Runs a call on the runtime with this health. A panic becomes `ERR_INTERNAL`. `end_broken` ends
/// the runtime if the panic broke it. A runtime that is broken already refuses the call.
pub(crate) fn contained_in<T>(
    health: &Health,
    end_broken: impl FnOnce(),
    call: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    refuse_broken(health)?;
    let result = contain(health, call);
    let broken = refuse_broken(health).inspect_err(|_| end_broken());
    result.unwrap_or_else(|panic| Err(broken.err().unwrap_or_else(|| internal(panic, Ended::Request))))
}

/// Fails if the runtime with this health is broken.
pub(crate) fn refuse_broken(health: &Health) -> Result<(), Error> {
    let place = health.broken_at();
    place.map_or(Ok(()), |place| Err(Error::Internal { place: place.to_owned(), ended: Ended::Runtime }))
}

fn internal(Panic { place }: Panic, ended: Ended) -> Error {
    Error::Internal { place, ended }
}
