//! The sidecar process: one embedder's session over a socket.
//!
//! ```text
//! socket ─► serve ─► session ─► core ─► sinks ─► outgoing ─► socket
//!           one reading thread  any thread that ends a program
//! ```
//!
//! The process hardens itself, opens the core, closes the wall ([`walls`]), and serves until the
//! embedder disconnects. [`serve`] reads frames, `crates/session` handles them, and [`outgoing`]
//! writes frames. The exit code is 0 when the embedder has disconnected, and 2 for wrong arguments.
//! The exit code is 1 when the process cannot serve or the embedder has broken the protocol.

mod arguments;
mod channel;
mod hardening;
mod outgoing;
mod serve;
mod takeover;
mod walls;

use std::process::ExitCode;
use std::sync::Arc;

use coldframe_core::{Core, Store};
use coldframe_session::{ErrorContext, Session, connection_error, failure};
use coldframe_wall::Building;

use crate::arguments::{Arguments, Command};
use crate::channel::Channel;
use crate::outgoing::Outgoing;
use crate::serve::Server;

fn main() -> ExitCode {
    let arguments = match arguments::parse(std::env::args_os()) {
        Ok(Command::Serve(arguments)) => arguments,
        Ok(Command::Print(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(reason) => return stop(2, &reason),
    };
    if let Some(Err(received)) = arguments.log.as_deref().map(coldframe_log::install) {
        return stop(2, &format!("--log: expected {}, received {received:?}", coldframe_log::EXPECTED));
    }
    hardening::abort_on_panic();
    if let Err(reason) = hardening::harden(arguments.channel_fd) {
        return stop(1, &reason);
    }
    let channel = match Channel::inherited(arguments.channel_fd) {
        Ok(channel) => channel,
        Err(reason) => return stop(2, &reason),
    };
    match Outgoing::new(channel) {
        Ok(outgoing) => run(&arguments, Arc::new(outgoing)),
        Err(error) => stop(1, &format!("cannot make an event descriptor: {error}")),
    }
}

fn run(arguments: &Arguments, outgoing: Arc<Outgoing>) -> ExitCode {
    let building = walls::begin(arguments);
    let core = match Core::open(&arguments.core) {
        Ok(core) => core,
        Err(error) => {
            outgoing.push(connection_error(&failure(&error, ErrorContext::NONE)));
            outgoing.drain();
            return stop(1, &error.to_string());
        }
    };
    let store = Store::open(&core, arguments.store.clone());
    // No guest has run yet, and this process has one thread.
    let walls = building.map(Building::close).unwrap_or_default();
    if let Err(failure) = walls::check(arguments.walls, &walls) {
        outgoing.push(connection_error(&failure));
        outgoing.drain();
        return stop(1, &failure.message);
    }
    core.return_freed_memory();
    #[cfg(feature = "stand-in")]
    walls::stand_in(arguments, !walls.parts.is_empty());
    let session = Session::new(core, store, Arc::clone(&outgoing) as _, arguments.inline);
    outgoing.push(session.hello(walls::report(&walls)).into_frame());
    let Err(error) = Server::new(session, outgoing, arguments.spin).serve();
    stop(1, &format!("cannot start a thread: {error}"))
}

fn stop(code: u8, reason: &str) -> ExitCode {
    eprintln!("coldframe-sidecar: {reason}");
    ExitCode::from(code)
}
