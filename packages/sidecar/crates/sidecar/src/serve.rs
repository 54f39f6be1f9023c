//! The reading side: reads frames, passes each of them to the session, and detects that the
//! embedder has disconnected.
//!
//! One thread reads at a time. A thread that has just answered polls for more frames for a while
//! before it sleeps. In a loop of evaluations the next request arrives within microseconds, and
//! waking up costs more than handling the request. Frames that arrive together are handled as a
//! batch, and their replies are sent together. A request that arrives alone runs on the reading
//! thread itself for its budget. A second thread takes over if the first thread does not return
//! ([`crate::takeover`]). When the first thread returns, it waits in place of the second thread.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coldframe_panics::process::Mutex;
use coldframe_protocol::Decoder;
use coldframe_session::{Job, Session, Violation, connection_error, frame_violation};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::sched_yield;

use crate::channel::Attempt;
use crate::hardening::exit_process;
use crate::outgoing::{self, Outgoing};
use crate::takeover::Takeover;

/// Serves one connection.
pub struct Server {
    outgoing: Arc<Outgoing>,
    spin: Duration,
    takeover: Takeover,
    /// The reader, locked by the thread that reads.
    reader: Mutex<Reader>,
}

struct Reader {
    decoder: Decoder,
    session: Session,
    awake_until: Instant,
}

/// The next action of the reading thread.
enum Step {
    Read,
    Run(Job),
    /// The other end of the channel is closed.
    Disconnected,
    /// The embedder has broken the protocol. The violation is the last message.
    Violated(Violation),
}

impl Server {
    /// Makes a server. After a reply, the reading thread polls for more frames for the time `spin`
    /// before it sleeps.
    pub fn new(session: Session, outgoing: Arc<Outgoing>, spin: Duration) -> Self {
        let reader = Reader { decoder: Decoder::new(), session, awake_until: Instant::now() };
        Self { outgoing, spin, takeover: Takeover::default(), reader: Mutex::new(reader) }
    }

    /// Serves on this thread and on the takeover thread. Ends the process when the connection ends.
    pub fn serve(self) -> std::io::Result<Infallible> {
        let this = Arc::new(self);
        let second = Arc::clone(&this);
        std::thread::Builder::new().name("takeover".to_owned()).spawn(move || second.stand_by())?;
        this.read();
        this.stand_by()
    }

    /// Waits until the reading thread is stuck and then reads in place of that thread, in an
    /// endless loop.
    fn stand_by(&self) -> ! {
        loop {
            self.takeover.wait_until_stuck();
            self.read();
        }
    }

    /// Reads frames until the other thread has taken over reading.
    fn read(&self) {
        let Some(mut reader) = self.reader.try_lock() else { return };
        loop {
            match self.step(&mut reader) {
                Step::Read => {}
                Step::Run(job) => {
                    drop(reader);
                    let before = outgoing::pushed_here();
                    self.takeover.watch(job);
                    match self.reader.try_lock() {
                        Some(mine) => reader = mine,
                        None => return,
                    }
                    self.stay_awake(&mut reader, before);
                }
                Step::Disconnected => exit_process(0),
                Step::Violated(failure) => {
                    self.outgoing.push(connection_error(&failure));
                    self.outgoing.drain();
                    eprintln!("coldframe-sidecar: {}: {}", failure.code, failure.message);
                    exit_process(1)
                }
            }
        }
    }

    fn step(&self, reader: &mut Reader) -> Step {
        reader.session.run_tasks();
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
                    // The thread yields, because the reply may have woken the embedder on the
                    // processor of this thread.
                    sched_yield();
                    return Step::Read;
                }
                Attempt::Later => {}
                Attempt::Disconnected => return Step::Disconnected,
            }
        }
        if sleep(&self.outgoing, backlog.blocked, backlog.full) { Step::Read } else { Step::Disconnected }
    }

    /// Handles the frames that have been received completely.
    fn handle_all(&self, reader: &mut Reader) -> Result<Option<Job>, Violation> {
        let mut first = true;
        while let Some(frame) = reader.decoder.next_frame().map_err(|error| frame_violation(&error))? {
            let alone = first && !frame.more && !self.takeover.is_running();
            if let Some(job) = reader.session.handle(&frame, alone)? {
                return Ok(Some(job)); // The frame was alone, so no frame follows.
            }
            first = false;
        }
        Ok(None)
    }

    /// Makes this thread poll for the time `spin` if the thread has sent a frame since `before` and
    /// no request is in flight. With requests in flight the thread sleeps, because a worker can use
    /// the thread's processor.
    fn stay_awake(&self, reader: &mut Reader, before: u64) {
        if outgoing::pushed_here() != before && reader.session.is_idle() {
            reader.awake_until = Instant::now() + self.spin;
        }
    }
}

/// Sleeps until the socket is readable (unless `full`), writable (if `blocked`), or the backlog has
/// changed. Returns false if the embedder has disconnected. With a full backlog this thread does
/// not read, so only a hang-up event reports the disconnection.
fn sleep(outgoing: &Outgoing, blocked: bool, full: bool) -> bool {
    let mut events = PollFlags::empty();
    events.set(PollFlags::IN, !full);
    events.set(PollFlags::OUT, blocked);
    let wakes = outgoing.wakes();
    let mut fds = [PollFd::new(outgoing.channel(), events), PollFd::new(&wakes, PollFlags::IN)];
    if poll(&mut fds, None).is_err() {
        return true; // A signal interrupted the call, so the caller polls again.
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
