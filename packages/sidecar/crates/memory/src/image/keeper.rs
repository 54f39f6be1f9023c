//! The keeper of images. The keeper gathers images in the background, and prepares copies of the
//! installation's image for gathering. The keeper also frees unused resources: gathered files,
//! ready copies, and clean slots of saved images.
//!
//! The keeper has one thread, which starts when the keeper has a job or a resource, and ends when
//! the keeper has neither. The number of gathered images is bounded. A gathered file is freed if no
//! new memory was mapped from the file for some time. The number of saved images with slots is also
//! bounded. If a memory lacks resources, the budget frees the slots that were unused for longest
//! (`../budget.rs`). Next: `mod.rs`.

use super::{Extent, Image};
use coldframe_panics::process::{Condvar, Mutex};
use coldframe_sys as sys;
use std::collections::VecDeque;
use std::fs::File;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The largest number of gathered images. Each gathered file needs as much memory as the image is
/// long.
const MAX_GATHERED: usize = 16;
/// The largest number of saved images with clean slots. A clean slot occupies the mappings and the
/// address range of a memory and saves the next restore two system calls.
const MAX_WITH_SLOTS: usize = 64;
/// The number of images that lose their slots at once if too many have slots or resources are
/// missing: about a millisecond of work.
const GIVE_UP: usize = 16;
/// The largest number of queued jobs. Further jobs are refused.
const MAX_QUEUED: usize = 32;
/// The idle time after which resources are freed.
const UNUSED: Duration = Duration::from_secs(30);
/// The idle time after which another image may replace a gathered image.
const RESTING: Duration = Duration::from_secs(2);
/// The delay before a copy is made, so that making a copy does not compete with the restore that
/// used the previous copy.
const COPY_DELAY: Duration = Duration::from_millis(10);
/// The interval of the thread's checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The keeper of all images of a process.
#[derive(Debug, Default)]
pub struct Keeper {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Job>,
    gathered: Vec<Weak<Image>>,
    copies: Vec<Copy>,
    /// Saved images that may have clean slots.
    with_slots: Vec<Weak<Image>>,
    running: bool,
    closed: bool,
}

/// A copy of the installation's image, ready to be overwritten.
#[derive(Debug)]
struct Copy {
    /// The image's id.
    id: Arc<str>,
    file: File,
    since_ns: u64,
}

#[derive(Debug)]
enum Job {
    Gather(Weak<Image>),
    /// Makes a copy of the installation's image with this id. The run has the image's bytes.
    Copy(Arc<str>, Extent),
    Check,
}

impl State {
    fn take_copy(&mut self, id: &Arc<str>) -> Option<File> {
        let at = self.copies.iter().position(|copy| copy.id == *id)?;
        Some(self.copies.swap_remove(at).file)
    }
}

impl Keeper {
    /// Prepares a copy of the installation's image, because `image` may soon be mapped often.
    pub fn prepare(self: &Arc<Self>, image: &Image) {
        let state = self.state.lock();
        if !state.closed && !state.copies.iter().any(|copy| copy.id == image.id) {
            self.enqueue(state, Job::Copy(image.id.clone(), image.origin.clone()));
        }
    }

    /// Takes a ready copy of the installation's image that `image` was made from. Returns `None` if
    /// no further image may be gathered or no copy is ready.
    pub(super) fn take_copy(self: &Arc<Self>, image: &Image) -> Option<File> {
        if !self.has_room() {
            return None;
        }
        let mut state = self.state.lock();
        let copy = state.take_copy(&image.id)?;
        self.enqueue(state, Job::Copy(image.id.clone(), image.origin.clone()));
        Some(copy)
    }

    /// Gathers `image` into `copy` at once.
    pub(super) fn gather_into(&self, image: &Arc<Image>, copy: File) {
        if image.gather(copy).is_ok_and(|fewer| fewer) {
            self.state.lock().gathered.push(Arc::downgrade(image));
        } else {
            image.not_gathered();
        }
    }

    /// Gathers `image` in the background.
    pub(super) fn gather_later(self: &Arc<Self>, image: &Arc<Image>) {
        if !self.enqueue(self.state.lock(), Job::Gather(Arc::downgrade(image))) {
            image.not_gathered();
        }
    }

    fn enqueue(self: &Arc<Self>, mut state: coldframe_panics::process::MutexGuard<'_, State>, job: Job) -> bool {
        let again = |other: &Job| matches!((&job, other), (Job::Copy(id, _), Job::Copy(same, _)) if id == same);
        if state.closed || state.queue.len() >= MAX_QUEUED || state.queue.iter().any(again) {
            return false;
        }
        state.queue.push_back(job);
        self.changed.notify_one();
        if !self.start(&mut state) {
            state.queue.clear();
        }
        state.running
    }

    /// Starts the thread. Returns whether the thread runs.
    fn start(self: &Arc<Self>, state: &mut State) -> bool {
        if !state.running && !state.closed {
            let keeper = self.clone();
            let thread = std::thread::Builder::new().name("coldframe-keeper".to_owned()).stack_size(128 << 10);
            state.running = thread.spawn(move || keeper.run()).is_ok();
        }
        state.running
    }

    /// Records that the saved image `image` has clean slots.
    pub fn keeps_slots(self: &Arc<Self>, image: &Arc<Image>) {
        let mut state = self.state.lock();
        state.with_slots.push(Arc::downgrade(image));
        self.start(&mut state);
        let too_many = state.with_slots.len() > MAX_WITH_SLOTS;
        drop(state);
        if too_many {
            self.give_up_slots();
        }
    }

    /// Frees the clean slots of the saved images that were unused for longest, of at most `GIVE_UP`
    /// images. Returns false if no image has slots.
    pub fn give_up_slots(&self) -> bool {
        self.free_slots(GIVE_UP, Duration::ZERO)
    }

    fn free_slots(&self, most: usize, unused: Duration) -> bool {
        let now = sys::monotonic_ns();
        let is_unused = |image: &Arc<Image>| u128::from(now.saturating_sub(image.pool().used_ns())) >= unused.as_nanos();
        let mut state = self.state.lock();
        let mut images: Vec<Arc<Image>> = state.with_slots.iter().filter_map(Weak::upgrade).collect();
        images.sort_by_cached_key(|image| image.pool().used_ns());
        let kept = images.split_off(images.iter().take(most).take_while(|image| is_unused(image)).count());
        state.with_slots = kept.iter().map(Arc::downgrade).collect();
        // The lock is released first, because dropping the last reference to an image clears its
        // pool.
        drop(state);
        images.iter().for_each(|image| image.pool().clear(image.len()));
        !images.is_empty()
    }

    /// Ends the thread after its present job.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    fn run(&self) {
        sys::yield_to_others();
        while let Some(job) = self.next() {
            match job {
                Job::Check => {}
                Job::Copy(id, origin) => {
                    std::thread::sleep(COPY_DELAY);
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
                    // Prepares the next copy. Without a ready copy, the next image would be
                    // gathered only in the background.
                    self.make_copy(image.id.clone(), &image.origin);
                }
            }
            self.free_unused(UNUSED);
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

    /// Waits for a job. Returns `None` if the keeper is closed, or if there is no job and the
    /// keeper keeps no resource.
    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            if state.gathered.is_empty() && state.copies.is_empty() && state.with_slots.is_empty() {
                state.running = false;
                return None;
            }
            if self.changed.wait_for(&mut state, CHECK_INTERVAL).timed_out() && state.queue.is_empty() {
                return Some(Job::Check);
            }
        }
    }

    /// Returns whether a further image may be gathered. If the limit is reached, first frees the
    /// gathered files of images that were unused for [`RESTING`].
    fn has_room(&self) -> bool {
        let full = || self.state.lock().gathered.len() >= MAX_GATHERED;
        if full() {
            self.free_gathered(RESTING);
        }
        !full()
    }

    /// Frees all resources that were unused for this time.
    pub fn free_unused(&self, unused: Duration) {
        let now = sys::monotonic_ns();
        self.state.lock().copies.retain(|copy| u128::from(now.saturating_sub(copy.since_ns)) < unused.as_nanos());
        self.free_gathered(unused);
        self.free_slots(usize::MAX, unused);
    }

    fn free_gathered(&self, unused: Duration) {
        let now = sys::monotonic_ns();
        let gathered = std::mem::take(&mut self.state.lock().gathered);
        let mut kept: Vec<Weak<Image>> = Vec::with_capacity(gathered.len());
        for weak in gathered {
            // The lock is not held, because dropping the last reference to an image clears its
            // pool.
            let Some(image) = weak.upgrade() else { continue };
            if u128::from(now.saturating_sub(image.last_used_ns())) >= unused.as_nanos() {
                image.ungather();
            } else {
                kept.push(weak);
            }
        }
        self.state.lock().gathered.extend(kept);
    }
}
