//! The panic hook of the process. Next: `place.rs`.

use crate::containment;
use crate::place::place;
use std::panic::PanicHookInfo;
use std::process::abort;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of contained panics that are printed. A guest that finds a defect can repeat it, and
/// must not fill the embedder's stderr.
const PRINTED: u32 = 100;
/// The largest number of characters of a message that is printed.
const MESSAGE: usize = 1_000;

/// Installs the panic hook, once. The hook prints one line that begins with `name`, and aborts the
/// process unless the thread runs inside [`crate::contain`].
///
/// The printed line has the panic's message, for the operator of the process.
pub fn install(name: &'static str) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let contained = AtomicU32::new(0);
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map_or_else(|| "an unknown place".to_owned(), place);
            let line = format!("{name}: internal error: panicked at {place}: {}", message(panic));
            if !containment::begin(place) {
                eprintln!("{line}");
                abort();
            }
            match contained.fetch_add(1, Ordering::Relaxed) {
                before if before < PRINTED => eprintln!("{line}"),
                PRINTED => eprintln!("{name}: further internal errors are not printed"),
                _ => {}
            }
        }));
    });
}

/// Returns the message in one line.
fn message(panic: &PanicHookInfo<'_>) -> String {
    let text = panic.payload_as_str().unwrap_or("no message");
    text.chars().take(MESSAGE).flat_map(char::escape_debug).collect()
}
