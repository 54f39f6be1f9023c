//! Listings of directories.
//!
//! WASI names a place in a listing by a cookie, and cuts off the last entry of a full buffer. The
//! guest then asks again from the cookie of that entry. The kernel has only a position, so this
//! module keeps the entries that the kernel returned and that the guest has not taken. If the
//! entries are missing, for example after a restore, the listing starts again and skips
//! entries. A cookie is the number of entries before an entry. Next: `sockets.rs`.

use super::context::{Outcome, call_beside, plain_call, put, put_u32};
use super::stat::FileType;
use crate::access::Call;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use coldframe_kernel::Start;
use std::collections::VecDeque;

/// The length of the buffer for one call of the kernel. A buffer of this length has an entry with
/// the longest name.
const BUFFER: usize = 4 << 10;
/// The number of listings whose entries are kept.
const MAX_LISTINGS: usize = 16;
/// The largest part of a guest's buffer that one call fills.
const MAX_FILLED: usize = 64 << 10;

/// A name and the kernel's number of its type.
type Entry = (Vec<u8>, u8);

/// The listings in progress.
#[derive(Default)]
pub(crate) struct Listings(VecDeque<(u32, Listing)>);

#[derive(Default)]
struct Listing {
    /// The cookie of the first entry.
    first: u64,
    entries: VecDeque<Entry>,
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
        while listing.first < cookie && listing.entries.pop_front().is_some() {
            listing.first += 1;
        }
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
    let mut listing = Listing::default();
    while listing.first < cookie {
        if listing.entries.is_empty() && !more(call, fd, &mut listing).await? {
            // The directory has fewer entries now.
            listing.first = cookie;
            break;
        }
        listing.entries.pop_front();
        listing.first += 1;
    }
    Ok(listing)
}

/// Appends entries. Returns false at the end of the directory. Drops the entries that the guest
/// has taken, so that the listing stays small.
async fn more(call: &mut Call<'_>, fd: u32, listing: &mut Listing) -> Outcome<bool> {
    let mut bytes = vec![0; BUFFER];
    let integers = [fd.into(), 0, BUFFER as i64];
    let used = call_beside(call, FileCall::Readdir, Start::default(), &integers, &mut bytes).await?;
    let used = usize::try_from(used).map_err(|_| Errno::EIO)?;
    let mut rest = &bytes[..used.min(BUFFER)];
    while let [kind, _, low, high, others @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high]));
        let Some((name, others)) = others.split_at_checked(len) else { break };
        listing.entries.push_back((name.to_vec(), *kind));
        rest = others;
    }
    Ok(used > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(first: u64, names: &[&str]) -> Listing {
        Listing { first, entries: names.iter().map(|name| (name.as_bytes().to_vec(), 1)).collect() }
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
