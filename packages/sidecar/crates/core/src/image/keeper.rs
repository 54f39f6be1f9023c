//! Who gathers images in the background, has copies of the installation's image ready for that, and lets go of what is not used any more: gathered images, those copies, and the clean
//! slots of saved images.
//!
//! One thread, started when there is something to do and ended when nothing is kept. So that copies stay few, only so many images are kept gathered at a
//! time, and none for longer than nobody makes memories of it. The same goes for slots; and when a memory cannot be had otherwise, those that were unused for longest are given up at
//! once (`memory/budget.rs` asks). Next: `mod.rs`.

use super::{Extent, Image};
use coldframe_sys as sys;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::fs::File;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Images that are kept gathered at most: each takes the image's length in memory.
const MOST: usize = 16;
/// Saved images that have clean slots at most. A slot holds what a memory does, and saves the next copy two system calls.
const MOST_WITH_SLOTS: usize = 64;
/// So many of them give up their slots at once when there are too many, or too little room: about a millisecond's work.
const GIVE_UP: usize = 16;
/// Things to do that may wait: what does not fit is not done.
const MOST_ASKED: usize = 32;
/// What was not used for so long is let go of.
const UNUSED: Duration = Duration::from_secs(30);
/// An image that was not used for so long makes room for another.
const RESTING: Duration = Duration::from_secs(2);
/// A copy is made so much later than it was asked for: not in the middle of what its predecessor was taken for.
const LATER: Duration = Duration::from_millis(10);
/// How often the thread looks.
const LOOK: Duration = Duration::from_secs(5);

/// See the module. One for all images of a process.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    asked: VecDeque<Job>,
    gathered: Vec<Weak<Image>>,
    copies: Vec<Copy>,
    /// Saved images that may have clean slots.
    with_slots: Vec<Weak<Image>>,
    running: bool,
    closed: bool,
}

/// A copy of the installation's image, ready to be written over.
#[derive(Debug)]
struct Copy {
    /// The image's.
    id: Arc<str>,
    file: File,
    since_ns: u64,
}

#[derive(Debug)]
enum Job {
    Gather(Weak<Image>),
    /// Have a copy ready of the image with this id, which is made of this run.
    Copy(Arc<str>, Extent),
    Look,
}

impl State {
    fn take_copy(&mut self, id: &Arc<str>) -> Option<File> {
        let at = self.copies.iter().position(|copy| copy.id == *id)?;
        Some(self.copies.swap_remove(at).file)
    }
}

impl Keeper {
    /// Somebody may soon make memories of `image`: a copy of what it began as is made ready.
    pub(crate) fn prepare(self: &Arc<Self>, image: &Image) {
        let state = self.state.lock();
        if !state.closed && !state.copies.iter().any(|copy| copy.id == image.id) {
            self.ask(state, Job::Copy(image.id.clone(), image.origin.clone()));
        }
    }

    /// A copy of what `image` began as, if one is ready and may be used.
    pub(super) fn take_copy(self: &Arc<Self>, image: &Image) -> Option<File> {
        if !self.has_room() {
            return None;
        }
        let mut state = self.state.lock();
        let copy = state.take_copy(&image.id)?;
        self.ask(state, Job::Copy(image.id.clone(), image.origin.clone()));
        Some(copy)
    }

    /// Gathers `image` at once.
    pub(super) fn gather_into(&self, image: &Arc<Image>, copy: File) {
        if image.gather(copy).is_ok_and(|fewer| fewer) {
            self.state.lock().gathered.push(Arc::downgrade(image));
        } else {
            image.not_gathered();
        }
    }

    /// Gathers `image` in a while.
    pub(super) fn gather_later(self: &Arc<Self>, image: &Arc<Image>) {
        if !self.ask(self.state.lock(), Job::Gather(Arc::downgrade(image))) {
            image.not_gathered();
        }
    }

    fn ask(self: &Arc<Self>, mut state: parking_lot::MutexGuard<'_, State>, job: Job) -> bool {
        let again = |other: &Job| matches!((&job, other), (Job::Copy(id, _), Job::Copy(same, _)) if id == same);
        if state.closed || state.asked.len() >= MOST_ASKED || state.asked.iter().any(again) {
            return false;
        }
        state.asked.push_back(job);
        self.changed.notify_one();
        if !self.start(&mut state) {
            state.asked.clear();
        }
        state.running
    }

    /// Whether the thread runs now.
    fn start(self: &Arc<Self>, state: &mut State) -> bool {
        if !state.running && !state.closed {
            let keeper = self.clone();
            let thread = std::thread::Builder::new().name("coldframe-keeper".to_owned()).stack_size(128 << 10);
            state.running = thread.spawn(move || keeper.run()).is_ok();
        }
        state.running
    }

    /// `image`, a saved one, has clean slots from now on.
    pub(crate) fn keeps_slots(self: &Arc<Self>, image: &Arc<Image>) {
        let mut state = self.state.lock();
        state.with_slots.push(Arc::downgrade(image));
        self.start(&mut state);
        let too_many = state.with_slots.len() > MOST_WITH_SLOTS;
        drop(state);
        if too_many {
            self.give_up_slots();
        }
    }

    /// The saved images that have not used their slots for longest give them up. False: there are none.
    pub(crate) fn give_up_slots(&self) -> bool {
        self.let_go_of_slots(GIVE_UP, Duration::ZERO)
    }

    fn let_go_of_slots(&self, most: usize, unused: Duration) -> bool {
        let now = sys::monotonic_ns();
        let is_unused = |image: &Arc<Image>| u128::from(now.saturating_sub(image.pool().used_ns())) >= unused.as_nanos();
        let mut state = self.state.lock();
        let mut images: Vec<Arc<Image>> = state.with_slots.iter().filter_map(Weak::upgrade).collect();
        images.sort_by_cached_key(|image| image.pool().used_ns());
        let kept = images.split_off(images.iter().take(most).take_while(|image| is_unused(image)).count());
        state.with_slots = kept.iter().map(Arc::downgrade).collect();
        // Not under the lock: the last one who holds an image clears its pool.
        drop(state);
        images.iter().for_each(|image| image.pool().clear(image.len()));
        !images.is_empty()
    }

    /// The thread ends when it has done what it is at.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    fn run(&self) {
        sys::yield_to_others();
        while let Some(job) = self.next() {
            match job {
                Job::Look => {}
                Job::Copy(id, origin) => {
                    std::thread::sleep(LATER);
                    self.make_copy(id, &origin);
                }
                Job::Gather(image) => {
                    let Some(image) = image.upgrade() else { continue };
                    let ready = self.state.lock().take_copy(&image.id);
                    let copy = || ready.map_or_else(|| Image::copy_of_origin(&image.origin), Ok);
                    match self.has_room().then(copy) {
                        Some(Ok(copy)) => self.gather_into(&image, copy),
                        _ => image.not_gathered(),
                    }
                    // The next one may come as suddenly: without a copy ready it would be gathered too late as well.
                    self.make_copy(image.id.clone(), &image.origin);
                }
            }
            self.let_go(UNUSED);
        }
    }

    fn make_copy(&self, id: Arc<str>, origin: &Extent) {
        if self.state.lock().copies.iter().any(|copy| copy.id == id) {
            return;
        }
        if let Ok(file) = Image::copy_of_origin(origin) {
            self.state.lock().copies.push(Copy { id, file, since_ns: sys::monotonic_ns() });
        }
    }

    /// Waits for something to do. `None` when there is nothing, and nothing is kept that would have to be let go of.
    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.asked.pop_front() {
                return Some(job);
            }
            if state.gathered.is_empty() && state.copies.is_empty() && state.with_slots.is_empty() {
                state.running = false;
                return None;
            }
            if self.changed.wait_for(&mut state, LOOK).timed_out() && state.asked.is_empty() {
                return Some(Job::Look);
            }
        }
    }

    /// Whether another one may be gathered; for that, those that rest make way.
    fn has_room(&self) -> bool {
        let full = || self.state.lock().gathered.len() >= MOST;
        if full() {
            self.let_go_of_images(RESTING);
        }
        !full()
    }

    /// Lets go of what nobody has used for so long.
    pub(crate) fn let_go(&self, unused: Duration) {
        let now = sys::monotonic_ns();
        self.state.lock().copies.retain(|copy| u128::from(now.saturating_sub(copy.since_ns)) < unused.as_nanos());
        self.let_go_of_images(unused);
        self.let_go_of_slots(usize::MAX, unused);
    }

    fn let_go_of_images(&self, unused: Duration) {
        let now = sys::monotonic_ns();
        let gathered = std::mem::take(&mut self.state.lock().gathered);
        let mut kept: Vec<Weak<Image>> = Vec::with_capacity(gathered.len());
        for weak in gathered {
            // Not under the lock: the last one who holds an image clears its pool.
            let Some(image) = weak.upgrade() else { continue };
            if u128::from(now.saturating_sub(image.last_used_ns())) >= unused.as_nanos() {
                image.scatter();
            } else {
                kept.push(weak);
            }
        }
        self.state.lock().gathered.extend(kept);
    }
}
