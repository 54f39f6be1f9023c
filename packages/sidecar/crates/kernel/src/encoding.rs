//! Decodes the bytes of snapshots, which may come from an untrusted file.
//!
//! A decoded snapshot can use many times the memory of the encoded bytes. [`bounded`] rejects a
//! list that is longer than any runtime's list. If the remaining bytes suffice for the encoded
//! count, [`bounded`] rejects such a list before the first value. Next: `snapshot/`.

use coldframe_error::Error as SnapshotError;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Decodes a list of at most `MOST` values. Fails if the list is longer.
pub fn bounded<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MOST: usize>(from: D) -> Result<Vec<T>, D::Error> {
    struct Bounded<T, const MOST: usize>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Bounded<T, MOST> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "at most {MOST} values")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Vec<T>, A::Error> {
            let mut read = Vec::new();
            // The encoding has the count before the values. If the remaining bytes are too few for
            // the count, the size hint is `None`.
            let mut is_longer = values.size_hint() > Some(MOST);
            while !is_longer && let Some(value) = values.next_element()? {
                is_longer = read.len() == MOST;
                read.push(value);
            }
            if is_longer { Err(A::Error::invalid_length(MOST + 1, &self)) } else { Ok(read) }
        }
    }

    from.deserialize_seq(Bounded::<T, MOST>(PhantomData))
}

/// Returns the error `SnapshotDamaged`, for bytes that are not a valid snapshot.
pub(crate) fn damaged(reason: impl Into<String>) -> SnapshotError {
    SnapshotError::SnapshotDamaged { path: "state".to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::bounded;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Pair(#[serde(deserialize_with = "bounded::<_, _, 3>")] Vec<u32>, u32);

    #[test]
    fn refuses_lists_that_are_too_long() {
        let read = |bytes: &[u8]| postcard::from_bytes::<Pair>(bytes).ok();
        assert_eq!(read(&[0, 9]), Some(Pair(vec![], 9)));
        assert_eq!(read(&[3, 1, 2, 3, 9]), Some(Pair(vec![1, 2, 3], 9)));
        for longer in [&[4, 1, 2, 3, 4, 9][..], &[4, 1, 2, 3, 4], &[4, 1, 2, 3], &[0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3, 4, 9]] {
            assert_eq!(read(longer), None, "{longer:?}");
        }
    }
}
