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
use coldframe_session::{ErrorContext, JobThread, Session, connection_error, failure};
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
    coldframe_panics::install("coldframe-sidecar");
    if let Err(reason) = hardening::harden(arguments.channel_fd) {
        return stop(1, &reason);
    }
    // The broker works while this process maps the image. Its fork copies what is mapped already.
    let building = walls::begin(&arguments);
    let channel = match Channel::inherited(arguments.channel_fd) {
        Ok(channel) => channel,
        Err(reason) => return stop(2, &reason),
    };
    match Outgoing::new(channel) {
        Ok(outgoing) => run(&arguments, building, Arc::new(outgoing)),
        Err(error) => stop(1, &format!("cannot make an event descriptor: {error}")),
    }
}

fn run(arguments: &Arguments, building: Option<Building>, outgoing: Arc<Outgoing>) -> ExitCode {
    // The wall refuses new code, so the module of Python is loaded before the wall is closed.
    let opened = Core::open(&arguments.core).and_then(|core| {
        if building.is_some() {
            core.load_python()?;
        }
        Ok(core)
    });
    let core = match opened {
        Ok(core) => core,
        Err(error) => {
            outgoing.push(connection_error(&failure(&error, ErrorContext::NONE)));
            outgoing.drain();
            return stop(1, &error.to_string());
        }
    };
    let store = Store::open(&core, arguments.store.clone());
    // No guest has run yet, and this process has one thread.
    let wall = building.map(Building::close).unwrap_or_default();
    if let Err(failure) = walls::check(arguments.walls, wall.report()) {
        outgoing.push(connection_error(&failure));
        outgoing.drain();
        return stop(1, &failure.message);
    }
    core.return_freed_memory();
    #[cfg(feature = "stand-in")]
    if let Some((folder, only)) = &arguments.stand_in {
        walls::stand_in(arguments, wall, folder, only.as_deref())
    }
    let session = Session::new(core, store, Arc::clone(&outgoing) as _, arguments.inline, JobThread::MayWait);
    outgoing.push(session.hello(walls::report(wall.report())).into_frame());
    // The first request may run a guest.
    if let Err(reason) = wall.finish() {
        return stop(1, &reason);
    }
    let Err(error) = Server::new(session, outgoing, arguments.spin).serve();
    stop(1, &format!("cannot start a thread: {error}"))
}

fn stop(code: u8, reason: &str) -> ExitCode {
    eprintln!("coldframe-sidecar: {reason}");
    ExitCode::from(code)
}
