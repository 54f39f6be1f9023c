//! The sidecar process: reads its arguments, puts its walls up, opens the core and serves one parent until that parent is gone.
//!
//! ```text
//! socket ─► serve ─► session ─► core ─► sinks ─► outgoing ─► socket
//!           one reading thread  workers and the reading thread: whoever ends a program
//! ```
//!
//! [`serve`] owns the reading side; [`session`] maps messages to core calls; [`sinks`] turn what the core tells back into messages;
//! [`outgoing`] is the writing side, shared by all threads. Exit codes: 0 when the parent has gone, 1 when the connection or the image
//! is unusable, 2 for wrong arguments.

mod adopted;
mod arguments;
mod casting;
mod channel;
mod copies;
mod files;
mod host;
mod limits;
mod network;
mod notes;
mod opened;
mod outgoing;
mod permissions;
mod processes;
mod relief;
mod requests;
mod serve;
mod session;
mod sinks;
mod sleep;
mod snapshots;
mod table;
mod walls;
mod wire;

use std::process::ExitCode;
use std::sync::Arc;

use coldframe_core::{Core, Store};
use coldframe_protocol::messages::{Kind, SidecarHello, VERSION};

use crate::arguments::{Arguments, Command};
use crate::channel::Channel;
use crate::outgoing::Outgoing;
use crate::serve::Server;
use crate::session::Session;

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
    walls::abort_on_panic();
    if let Err(reason) = walls::put_up(arguments.channel_fd) {
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
    let core = match Core::open(&arguments.core) {
        Ok(core) => core,
        Err(error) => {
            outgoing.push(wire::error(0, &wire::failure(&error, None)));
            outgoing.drain();
            return stop(1, &error.to_string());
        }
    };
    let hello = SidecarHello { version: VERSION, pid: std::process::id(), image: core.image_id(), load_ns: core.load_ns() };
    outgoing.push(wire::frame(Kind::Hello, 0, &hello, 0));
    let store = Store::open(&core, arguments.store.clone());
    let session = Session::new(core, store, Arc::clone(&outgoing), arguments.inline);
    let Err(error) = Server::new(session, outgoing, arguments.spin).serve();
    stop(1, &format!("cannot start a thread: {error}"))
}

fn stop(code: u8, reason: &str) -> ExitCode {
    eprintln!("coldframe-sidecar: {reason}");
    ExitCode::from(code)
}
