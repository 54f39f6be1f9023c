//! Named places that panic on demand, for tests alone. A release does not contain them.

/// Panics if `input`, which a guest or the embedder has chosen, names the place `name`. Does
/// nothing in a release.
#[cfg(not(feature = "stand-in"))]
#[inline(always)]
pub fn reach(_name: &str, _input: &[u8]) {}

/// Panics if `input`, which a guest or the embedder has chosen, names the place `name`: if it
/// contains `panic-at:` and the name. The place `process-lock` panics while a lock of the process
/// is held.
#[cfg(feature = "stand-in")]
#[track_caller]
#[expect(clippy::panic, reason = "the panic is the purpose of the function")]
pub fn reach(name: &str, input: &[u8]) {
    static LOCK: crate::process::Mutex<()> = crate::process::Mutex::new(());
    let mark = format!("panic-at:{name}");
    if input.windows(mark.len()).any(|part| part == mark.as_bytes()) {
        let _held = (name == "process-lock").then(|| LOCK.lock());
        panic!("the stand-in was asked for a panic at {name}");
    }
}
