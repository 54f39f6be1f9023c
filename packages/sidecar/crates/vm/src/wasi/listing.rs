//! Listings of directories.
//!
//! WASI names a place in a listing by a cookie, and cuts off the last entry of a full buffer. The
//! guest then asks again from the cookie of that entry. The kernel has only a position, so this
//! module keeps the entries that the kernel returned and that the guest has not taken. If the
//! entries are missing, for example after a restore, the listing starts again and skips
//! entries. A cookie is the number of entries before an entry. Next: `sockets.rs`.

use super::context::{Outcome, call_beside, plain_call, put, put_u32};
use super::polling::sched_yield;
use super::stat::FileType;
use crate::access::Call;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use coldframe_kernel::usage::{Charge, Resource};
use coldframe_kernel::{Caller, Start};
use std::collections::VecDeque;

/// The length of the buffer for one call of the kernel. A buffer of this length has an entry with
/// the longest name.
const BUFFER: usize = 4 << 10;
/// The number of listings whose entries are kept.
const MAX_LISTINGS: usize = 4;
/// The largest part of a guest's buffer that one call fills.
const MAX_FILLED: usize = 8 << 10;
/// The kernel memory of an entry in bytes, besides the name.
const ENTRY_COST: u64 = 64;

/// A name and the kernel's number of its type.
type Entry = (Vec<u8>, u8);

/// The listings in progress.
#[derive(Default)]
pub(crate) struct Listings(VecDeque<(u32, Listing)>);

struct Listing {
    /// The cookie of the first entry.
    first: u64,
    entries: VecDeque<Entry>,
    /// The charge for the entries.
    charge: Charge,
}

impl Listing {
    /// Makes a listing without entries, which the runtime of `caller` is charged for.
    fn new(caller: &dyn Caller) -> Self {
        Self { first: 0, entries: VecDeque::new(), charge: Charge::none(&caller.process().kernel.usage, Resource::Kernel) }
    }

    /// Adds an entry. Fails with `ENOMEM` at the runtime's limit of kernel memory.
    fn push(&mut self, name: &[u8], kind: u8) -> Result<(), Errno> {
        if !self.charge.grow(ENTRY_COST + name.len() as u64) {
            return Err(Errno::ENOMEM);
        }
        self.entries.push_back((name.to_vec(), kind));
        Ok(())
    }

    /// Removes the first entry. Returns false without an entry.
    fn skip(&mut self) -> bool {
        let Some((name, _)) = self.entries.pop_front() else { return false };
        self.charge.shrink(ENTRY_COST + name.len() as u64);
        self.first += 1;
        true
    }
}

impl Listings {
    /// Drops the listing of a descriptor that is closed or opened.
    pub(crate) fn forget(&mut self, fd: u32) {
        self.0.retain(|(other, _)| *other != fd);
    }

    /// Takes the listing of `fd`, if the listing can continue at `cookie`.
    fn take(&mut self, fd: u32, cookie: u64) -> Option<Listing> {
        let at = self.0.iter().position(|(other, _)| *other == fd)?;
        let (_, mut listing) = self.0.remove(at)?;
        while listing.first < cookie && listing.skip() {}
        (listing.first == cookie).then_some(listing)
    }

    fn keep(&mut self, fd: u32, listing: Listing) {
        if self.0.len() >= MAX_LISTINGS {
            self.0.pop_front();
        }
        self.0.push_back((fd, listing));
    }
}

pub(super) async fn fd_readdir(call: &mut Call<'_>, fd: u32, buffer: u32, len: u32, cookie: u64, out: u32) -> Outcome {
    let kept = call.data_mut().wasi.listings.take(fd, cookie).filter(|_| cookie > 0);
    let mut listing = match kept {
        Some(listing) => listing,
        None => start(call, fd, cookie).await?,
    };
    let capacity = (len as usize).min(MAX_FILLED);
    let mut filled = Vec::new();
    let mut place = 0;
    while filled.len() < capacity {
        if listing.entries.len() <= place && !more(call, fd, &mut listing).await? {
            break;
        }
        let Some((name, kind)) = listing.entries.get(place) else { break };
        place += 1;
        filled.extend((listing.first + place as u64).to_le_bytes());
        filled.extend(0_u64.to_le_bytes());
        filled.extend((name.len() as u32).to_le_bytes());
        filled.extend([FileType::of_entry(*kind) as u8, 0, 0, 0]);
        filled.extend(name);
    }
    filled.truncate(capacity);
    call.data_mut().wasi.listings.keep(fd, listing);
    put(call, buffer, &filled)?;
    put_u32(call, out, filled.len() as i64)
}

/// Starts a listing, and skips the entries before `cookie`.
async fn start(call: &mut Call<'_>, fd: u32, cookie: u64) -> Outcome<Listing> {
    plain_call(call, FileCall::Lseek, &[fd.into(), 0, 0]).await?;
    let mut listing = Listing::new(&*call.data().refs.caller);
    while listing.first < cookie {
        if listing.skip() {
            continue;
        }
        // A guest can ask for any cookie of a long directory.
        sched_yield(call).await?;
        if !more(call, fd, &mut listing).await? {
            // The directory has fewer entries now.
            listing.first = cookie;
        }
    }
    Ok(listing)
}

/// Appends entries. Returns false at the end of the directory.
async fn more(call: &mut Call<'_>, fd: u32, listing: &mut Listing) -> Outcome<bool> {
    let mut bytes = vec![0; BUFFER];
    let integers = [fd.into(), 0, BUFFER as i64];
    let used = call_beside(call, FileCall::Readdir, Start::default(), &integers, &mut bytes).await?;
    let used = usize::try_from(used).map_err(|_| Errno::EIO)?;
    let mut rest = &bytes[..used.min(BUFFER)];
    while let [kind, _, low, high, others @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high]));
        let Some((name, others)) = others.split_at_checked(len) else { break };
        listing.push(name, *kind)?;
        rest = others;
    }
    Ok(used > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldframe_kernel::Limits;
    use coldframe_kernel::usage::Usage;

    fn listing(first: u64, names: &[&str]) -> Listing {
        let usage = Usage::new(&Limits { kernel_bytes: 1_000, ..Limits::default() });
        let mut listing = Listing { first, entries: VecDeque::new(), charge: Charge::none(&usage, Resource::Kernel) };
        names.iter().for_each(|name| listing.push(name.as_bytes(), 1).expect("room"));
        listing
    }

    #[test]
    fn the_entries_count_for_the_kernel_memory() {
        let mut listing = listing(0, &["a", "bc"]);
        assert_eq!(listing.charge.amount(), 2 * ENTRY_COST + 3);
        assert_eq!(listing.push(&[b'x'; 900], 1), Err(Errno::ENOMEM));
        assert!(listing.skip() && listing.skip() && !listing.skip());
        assert_eq!((listing.first, listing.charge.amount()), (2, 0));
    }

    #[test]
    fn a_listing_continues_at_a_later_cookie_only() {
        let mut listings = Listings::default();
        listings.keep(3, listing(5, &["a", "b", "c"]));
        assert!(listings.take(4, 5).is_none());
        let taken = listings.take(3, 7).expect("the entries from c on");
        assert_eq!((taken.first, taken.entries.len()), (7, 1));
        listings.keep(3, taken);
        assert!(listings.take(3, 6).is_none());
        listings.keep(3, listing(5, &["a"]));
        assert!(listings.take(3, 7).is_none());
    }

    #[test]
    fn few_listings_are_kept() {
        let mut listings = Listings::default();
        for fd in 0..40 {
            listings.keep(fd, listing(0, &["a"]));
        }
        assert_eq!(listings.0.len(), MAX_LISTINGS);
        assert!(listings.take(0, 0).is_none());
        listings.forget(39);
        assert!(listings.take(39, 0).is_none());
        assert!(listings.take(38, 0).is_some());
    }
}
