//! The I/O thread: reads frames, has each handled by the session, keeps the writing side going, and notices the parent's death.
//!
//! A thread that has just answered looks for more for a while before it sleeps: in a loop of evaluations the next request comes within
//! microseconds, and waking up costs more than handling it. Frames that arrived together are handled as one batch, and answers leave together.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use coldframe_protocol::Decoder;
use rustix::event::{PollFd, PollFlags, poll};

use crate::channel::Attempt;
use crate::outgoing::Outgoing;
use crate::session::{Session, Violation};
use crate::wire;

/// Why serving has ended.
pub enum End {
    /// The other end of the channel is closed.
    ParentGone,
    /// The parent broke the protocol; this is to be its last message.
    Violation(Violation),
}

/// Serves until the end.
pub fn serve(mut session: Session, outgoing: &Outgoing, spin: Duration) -> End {
    let mut decoder = Decoder::new();
    let mut awake_until = Instant::now();
    loop {
        let backlog = outgoing.backlog();
        if !backlog.full {
            match outgoing.channel().receive(decoder.spare()) {
                Attempt::Done(n) => {
                    decoder.filled(n);
                    let (result, answered) = outgoing.batch(|| handle_all(&mut decoder, &mut session));
                    if let Err(violation) = result {
                        return End::Violation(violation);
                    }
                    if answered > 0 {
                        awake_until = Instant::now() + spin;
                    }
                    continue;
                }
                Attempt::Later if Instant::now() < awake_until => {
                    spin_loop();
                    continue;
                }
                Attempt::Later => {}
                Attempt::Gone => return End::ParentGone,
            }
        }
        if !sleep(outgoing, backlog.blocked, backlog.full) {
            return End::ParentGone;
        }
    }
}

/// Handles the frames that have been received whole.
fn handle_all(decoder: &mut Decoder, session: &mut Session) -> Result<(), Violation> {
    let mut first = true;
    while let Some(frame) = decoder.next_frame().map_err(|error| wire::unsendable(&error))? {
        session.handle(&frame, first && !frame.more)?;
        first = false;
    }
    Ok(())
}

/// Sleeps until there is something to read (unless `full`), or to write (when `blocked`), or the backlog has changed. False: the parent
/// has gone. With a full backlog nothing is read, so that only the hang-up tells.
fn sleep(outgoing: &Outgoing, blocked: bool, full: bool) -> bool {
    let mut events = PollFlags::empty();
    events.set(PollFlags::IN, !full);
    events.set(PollFlags::OUT, blocked);
    let wakes = outgoing.wakes();
    let mut fds = [PollFd::new(outgoing.channel(), events), PollFd::new(&wakes, PollFlags::IN)];
    if poll(&mut fds, None).is_err() {
        return true; // interrupted by a signal: look again
    }
    let (socket, wake) = (fds[0].revents(), fds[1].revents());
    if !wake.is_empty() {
        outgoing.woken();
    }
    if blocked && socket.contains(PollFlags::OUT) {
        outgoing.resume();
    }
    !(full && socket.intersects(PollFlags::HUP | PollFlags::ERR))
}
