//! DER, as much as keys and signatures need of it: definite lengths, strictly shortest, nothing left over.

use crate::Fault;
use crate::prime::strip;

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OID: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;

/// Reads values in order.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tag of the next value.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next value, whatever it is.
    pub(crate) fn any(&mut self) -> Result<(u8, &'a [u8]), Fault> {
        let (&tag, rest) = self.0.split_first().ok_or(Fault::Asn1)?;
        let (&first, mut rest) = rest.split_first().ok_or(Fault::Asn1)?;
        let mut len = usize::from(first);
        if first >= 0x80 {
            let count = usize::from(first & 0x7f);
            let (bytes, after) = rest.split_at_checked(count).ok_or(Fault::Asn1)?;
            if !(1..=4).contains(&count) || bytes[0] == 0 {
                return Err(Fault::Asn1);
            }
            len = bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
            if len < 0x80 {
                return Err(Fault::Asn1);
            }
            rest = after;
        }
        let (value, rest) = rest.split_at_checked(len).ok_or(Fault::Asn1)?;
        self.0 = rest;
        Ok((tag, value))
    }

    pub(crate) fn value(&mut self, wanted: u8) -> Result<&'a [u8], Fault> {
        match self.any()? {
            (tag, value) if tag == wanted => Ok(value),
            _ => Err(Fault::Asn1Tag),
        }
    }

    /// The next value, when it has that tag.
    pub(crate) fn optional(&mut self, wanted: u8) -> Result<Option<&'a [u8]>, Fault> {
        if self.peek() == Some(wanted) { self.value(wanted).map(Some) } else { Ok(None) }
    }

    pub(crate) fn sequence(&mut self) -> Result<Reader<'a>, Fault> {
        self.value(SEQUENCE).map(Reader)
    }

    /// A number that is not negative, without leading zeros.
    pub(crate) fn unsigned(&mut self) -> Result<&'a [u8], Fault> {
        let value = self.value(INTEGER)?;
        let first = *value.first().ok_or(Fault::Asn1)?;
        if first >= 0x80 {
            return Err(Fault::Asn1);
        }
        Ok(strip(value))
    }

    pub(crate) fn small(&mut self) -> Result<u32, Fault> {
        let value = self.unsigned()?;
        if value.len() > 4 {
            return Err(Fault::Asn1);
        }
        Ok(value.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    /// The bytes of a bit string that is made of whole bytes.
    pub(crate) fn bits(&mut self) -> Result<&'a [u8], Fault> {
        whole_bytes(self.value(BIT_STRING)?)
    }

    /// Nothing may follow.
    pub(crate) fn end(self) -> Result<(), Fault> {
        if self.0.is_empty() { Ok(()) } else { Err(Fault::Asn1) }
    }
}

pub(crate) fn whole_bytes(value: &[u8]) -> Result<&[u8], Fault> {
    match value.split_first() {
        Some((0, bytes)) => Ok(bytes),
        _ => Err(Fault::Asn1),
    }
}

/// A value with its tag and length.
pub(crate) fn encode(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    if value.len() < 0x80 {
        out.push(value.len() as u8);
    } else {
        let bytes = value.len().to_be_bytes();
        let len = strip(&bytes);
        out.push(0x80 | len.len() as u8);
        out.extend_from_slice(len);
    }
    out.extend_from_slice(value);
    out
}

pub(crate) fn sequence(values: &[Vec<u8>]) -> Vec<u8> {
    encode(SEQUENCE, &values.concat())
}

/// A number that is not negative.
pub(crate) fn unsigned(number: &[u8]) -> Vec<u8> {
    let mut value = strip(number).to_vec();
    if value.first().is_none_or(|first| *first >= 0x80) {
        value.insert(0, 0);
    }
    encode(INTEGER, &value)
}

pub(crate) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    let mut value = vec![0];
    value.extend_from_slice(bytes);
    encode(BIT_STRING, &value)
}
