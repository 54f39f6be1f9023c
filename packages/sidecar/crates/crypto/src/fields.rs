//! The encoding of a command's request and result: a row of fields.
//!
//! A field is a byte string after its length as a little-endian `u32`. A number is a field of eight
//! bytes.

use crate::Fault;

/// Reads the fields of a request in order.
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let (len, rest) = self.0.split_first_chunk::<4>().ok_or(Fault::Malformed)?;
        let (field, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or(Fault::Malformed)?;
        self.0 = rest;
        Ok(field)
    }

    pub(crate) fn number<T: TryFrom<i64>>(&mut self) -> Result<T, Fault> {
        let bytes: [u8; 8] = self.bytes()?.try_into().map_err(|_| Fault::Malformed)?;
        T::try_from(i64::from_le_bytes(bytes)).map_err(|_| Fault::Malformed)
    }

    /// Reads an optional number. The guest sends -1 for an absent number.
    pub(crate) fn optional<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, Fault> {
        match self.number::<i64>()? {
            -1 => Ok(None),
            number => T::try_from(number).map(Some).map_err(|_| Fault::Malformed),
        }
    }
}

/// A result of several fields.
#[derive(Default)]
pub(crate) struct Reply(Vec<u8>);

impl Reply {
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Result<Self, Fault> {
        let len = u32::try_from(bytes.len()).map_err(|_| Fault::Length)?;
        self.0.extend_from_slice(&len.to_le_bytes());
        self.0.extend_from_slice(bytes);
        Ok(self)
    }

    pub(crate) fn number(self, number: i64) -> Result<Self, Fault> {
        self.bytes(&number.to_le_bytes())
    }

    pub(crate) fn done(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_request_that_is_cut() {
        let whole = Reply::default().bytes(b"abc").and_then(|reply| reply.number(-5)).map(Reply::done).expect("short");
        for cut in 0..whole.len() {
            let mut fields = Fields::new(&whole[..cut]);
            assert!(fields.bytes().and_then(|_| fields.number::<i64>()).is_err(), "{cut}");
        }
        let mut fields = Fields::new(&whole);
        assert_eq!(fields.bytes(), Ok(&b"abc"[..]));
        assert_eq!(fields.number::<u32>(), Err(Fault::Malformed));
        assert_eq!(Fields::new(&[255, 255, 255, 255, 1]).bytes(), Err(Fault::Malformed));
    }
}
