//! Reads frames, has each handled by the session, keeps the writing side going, and notices the parent's death.
//!
//! One thread reads at a time. A thread that has just answered looks for more for a while before it sleeps: in a loop of evaluations the
//! next request comes within microseconds, and waking up costs more than handling it. Frames that arrived together are handled as one batch,
//! and answers leave together. A request that came alone runs on the reading thread itself for its budget; a second thread, otherwise
//! asleep, takes the reading over if the first does not come back ([`crate::relief`]). The one that comes back late becomes the second.

use std::convert::Infallible;

use std::sync::Arc;
use std::time::{Duration, Instant};

use coldframe_protocol::Decoder;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::sched_yield;

use crate::channel::Attempt;
use crate::outgoing::{self, Outgoing};
use crate::relief::Relief;
use crate::session::{Job, Session, Violation};
use crate::{walls, wire};

/// See the module.
pub struct Server {
    outgoing: Arc<Outgoing>,
    spin: Duration,
    relief: Relief,
    /// Locked by the thread that reads.
    reader: Mutex<Reader>,
}

struct Reader {
    decoder: Decoder,
    session: Session,
    awake_until: Instant,
}

/// What the reading thread does next.
enum Step {
    Read,
    Run(Job),
    /// The other end of the channel is closed.
    ParentGone,
    /// The parent broke the protocol; this is to be its last message.
    Violated(Violation),
}

impl Server {
    /// A server for one connection. `spin`: how long a thread that has just answered looks for more.
    pub fn new(session: Session, outgoing: Arc<Outgoing>, spin: Duration) -> Self {
        let reader = Reader { decoder: Decoder::new(), session, awake_until: Instant::now() };
        Self { outgoing, spin, relief: Relief::default(), reader: Mutex::new(reader) }
    }

    /// Serves on this thread and a second one; ends the process when the connection ends.
    pub fn serve(self) -> std::io::Result<Infallible> {
        let this = Arc::new(self);
        let second = Arc::clone(&this);
        std::thread::Builder::new().name("relief".to_owned()).spawn(move || second.stand_by())?;
        this.read();
        this.stand_by()
    }

    /// Reads whenever the reading thread is stuck.
    fn stand_by(&self) -> ! {
        loop {
            self.relief.wait_until_stuck();
            self.read();
        }
    }

    /// Reads until another thread does.
    fn read(&self) {
        let Some(mut reader) = self.reader.try_lock() else { return };
        loop {
            match self.step(&mut reader) {
                Step::Read => {}
                Step::Run(job) => {
                    drop(reader);
                    let before = outgoing::pushed_here();
                    self.relief.watched(job);
                    match self.reader.try_lock() {
                        Some(mine) => reader = mine,
                        None => return,
                    }
                    self.stay_awake(&mut reader, before);
                }
                Step::ParentGone => walls::vanish(0),
                Step::Violated(failure) => {
                    self.outgoing.push(wire::error(0, &failure));
                    self.outgoing.drain();
                    eprintln!("coldframe-sidecar: {}: {}", failure.code, failure.message);
                    walls::vanish(1)
                }
            }
        }
    }

    fn step(&self, reader: &mut Reader) -> Step {
        reader.session.take_notes();
        let backlog = self.outgoing.backlog();
        if !backlog.full {
            match self.outgoing.channel().receive(reader.decoder.spare()) {
                Attempt::Done(n) => {
                    reader.decoder.filled(n);
                    let before = outgoing::pushed_here();
                    let job = self.outgoing.batch(|| self.handle_all(reader));
                    self.stay_awake(reader, before);
                    return match job {
                        Ok(Some(job)) => Step::Run(job),
                        Ok(None) => Step::Read,
                        Err(violation) => Step::Violated(violation),
                    };
                }
                Attempt::Later if Instant::now() < reader.awake_until => {
                    // Not a bare spin: the parent, woken by the answer, may have been put on this very processor.
                    sched_yield();
                    return Step::Read;
                }
                Attempt::Later => {}
                Attempt::Gone => return Step::ParentGone,
            }
        }
        if sleep(&self.outgoing, backlog.blocked, backlog.full) { Step::Read } else { Step::ParentGone }
    }

    /// Handles the frames that have been received whole.
    fn handle_all(&self, reader: &mut Reader) -> Result<Option<Job>, Violation> {
        let mut first = true;
        while let Some(frame) = reader.decoder.next_frame().map_err(|error| wire::unsendable(&error))? {
            let alone = first && !frame.more && !self.relief.is_running();
            if let Some(job) = reader.session.handle(&frame, alone)? {
                return Ok(Some(job)); // it was alone: nothing follows
            }
            first = false;
        }
        Ok(None)
    }

    /// Stays awake for a while if this thread has answered something since `before`, and no worker could use the processor meanwhile.
    fn stay_awake(&self, reader: &mut Reader, before: u64) {
        if outgoing::pushed_here() != before && reader.session.is_idle() {
            reader.awake_until = Instant::now() + self.spin;
        }
    }
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
