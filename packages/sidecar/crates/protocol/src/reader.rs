//! Reads one MessagePack value as a message, strictly, and names the exact problem of a wrong
//! value.
//!
//! `rmp-serde` writes bodies. This module reads bodies, because an error must name the field, the
//! expectation and the value (`process.start.args[3]: expected a string, received number 7`). The
//! errors of `rmp-serde` are sentences without a field. Texts and binary data are borrowed from the
//! frame. The length of a list is checked against the remaining bytes and against [`MAX_ENTRIES`]
//! before the list is allocated. Nesting is bounded, and bytes after the value are an error. Next:
//! [`crate::invalid`], the errors.

use std::fmt;

use rmp::Marker;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, Deserialize, IntoDeserializer, Visitor};

use crate::invalid::{Invalid, shortened};

/// The longest list or map that is accepted.
pub const MAX_ENTRIES: usize = 65_536;

/// The largest number of entries that a list allocates before the entries are read. An entry in
/// memory can have many times the bytes of an entry in the frame, so a longer list grows.
const ALLOCATED_AT_FIRST: usize = 16;

/// The deepest nesting that is accepted. Messages have at most seven levels: the rules of a
/// restored runtime's permissions.
const MAX_DEPTH: u8 = 8;

/// Reads all of `bytes` as one `T`.
pub fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Invalid> {
    let mut reader = Reader { rest: bytes, depth: 0 };
    let value = T::deserialize(&mut reader)?;
    match reader.rest.len() {
        0 => Ok(value),
        n => Err(Invalid::new("the end of the frame", format!("{n} more bytes"))),
    }
}

struct Reader<'de> {
    rest: &'de [u8],
    depth: u8,
}

/// The beginning of a MessagePack value.
enum Head {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Str(usize),
    Bin(usize),
    Array(usize),
    Map(usize),
}

impl<'de> Reader<'de> {
    fn take(&mut self, n: usize) -> Result<&'de [u8], Invalid> {
        match self.rest.split_at_checked(n) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(Invalid::new(format_args!("{n} more bytes"), format!("{}", self.rest.len()))),
        }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Invalid> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn size<const N: usize>(&mut self) -> Result<usize, Invalid> {
        Ok(self.bytes::<N>()?.iter().fold(0, |n, b| n << 8 | usize::from(*b)))
    }

    fn head(&mut self) -> Result<Head, Invalid> {
        let [byte] = self.bytes()?;
        Ok(match Marker::from_u8(byte) {
            Marker::Null => Head::Nil,
            Marker::False => Head::Bool(false),
            Marker::True => Head::Bool(true),
            Marker::FixPos(n) => Head::Unsigned(n.into()),
            Marker::U8 => Head::Unsigned(u8::from_be_bytes(self.bytes()?).into()),
            Marker::U16 => Head::Unsigned(u16::from_be_bytes(self.bytes()?).into()),
            Marker::U32 => Head::Unsigned(u32::from_be_bytes(self.bytes()?).into()),
            Marker::U64 => Head::Unsigned(u64::from_be_bytes(self.bytes()?)),
            Marker::FixNeg(n) => Head::Signed(n.into()),
            Marker::I8 => Head::Signed(i8::from_be_bytes(self.bytes()?).into()),
            Marker::I16 => Head::Signed(i16::from_be_bytes(self.bytes()?).into()),
            Marker::I32 => Head::Signed(i32::from_be_bytes(self.bytes()?).into()),
            Marker::I64 => Head::Signed(i64::from_be_bytes(self.bytes()?)),
            Marker::F32 => Head::Float(f32::from_be_bytes(self.bytes()?).into()),
            Marker::F64 => Head::Float(f64::from_be_bytes(self.bytes()?)),
            Marker::FixStr(n) => Head::Str(n.into()),
            Marker::Str8 => Head::Str(self.size::<1>()?),
            Marker::Str16 => Head::Str(self.size::<2>()?),
            Marker::Str32 => Head::Str(self.size::<4>()?),
            Marker::Bin8 => Head::Bin(self.size::<1>()?),
            Marker::Bin16 => Head::Bin(self.size::<2>()?),
            Marker::Bin32 => Head::Bin(self.size::<4>()?),
            Marker::FixArray(n) => Head::Array(n.into()),
            Marker::Array16 => Head::Array(self.size::<2>()?),
            Marker::Array32 => Head::Array(self.size::<4>()?),
            Marker::FixMap(n) => Head::Map(n.into()),
            Marker::Map16 => Head::Map(self.size::<2>()?),
            Marker::Map32 => Head::Map(self.size::<4>()?),
            Marker::Reserved | Marker::Ext8 | Marker::Ext16 | Marker::Ext32 => return Err(extension(byte)),
            Marker::FixExt1 | Marker::FixExt2 | Marker::FixExt4 | Marker::FixExt8 | Marker::FixExt16 => {
                return Err(extension(byte));
            }
        })
    }

    fn text(&mut self, n: usize) -> Result<&'de str, Invalid> {
        std::str::from_utf8(self.take(n)?).map_err(|e| Invalid::new("UTF-8 text", format!("other bytes at {}", e.valid_up_to())))
    }

    /// Visits a list or map of `n` entries. An entry has at least `least` bytes.
    fn nested<V>(
        &mut self,
        n: usize,
        least: usize,
        visit: impl FnOnce(Entries<'_, 'de>) -> Result<V, Invalid>,
    ) -> Result<V, Invalid> {
        if n > MAX_ENTRIES {
            return Err(Invalid::new(format_args!("at most {MAX_ENTRIES} entries"), n.to_string()));
        }
        if n * least > self.rest.len() {
            return Err(Invalid::new(format_args!("{n} entries"), format!("{} more bytes", self.rest.len())));
        }
        if self.depth == MAX_DEPTH {
            return Err(Invalid::new(format_args!("at most {MAX_DEPTH} levels of nesting"), "more"));
        }
        self.depth += 1;
        let mut left = n;
        let value = visit(Entries { reader: self, left: &mut left, at: 0, key: None })?;
        self.depth -= 1;
        // A visitor that stops early leaves entries of this list before the next value.
        if left == 0 { Ok(value) } else { Err(Invalid::new(format_args!("{} entries", n - left), n.to_string())) }
    }

    fn visit<V: Visitor<'de>>(&mut self, head: Head, visitor: V) -> Result<V::Value, Invalid> {
        match head {
            Head::Nil => visitor.visit_unit(),
            Head::Bool(value) => visitor.visit_bool(value),
            Head::Unsigned(n) => visitor.visit_u64(n),
            Head::Signed(n) => visitor.visit_i64(n),
            Head::Float(n) => visitor.visit_f64(n),
            Head::Str(n) => visitor.visit_borrowed_str(self.text(n)?),
            Head::Bin(n) => visitor.visit_borrowed_bytes(self.take(n)?),
            Head::Array(n) => self.nested(n, 1, |entries| visitor.visit_seq(entries)),
            Head::Map(n) => self.nested(n, 2, |entries| visitor.visit_map(entries)),
        }
    }

    /// Reads a whole number. A float without a fraction is accepted.
    fn whole<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Invalid> {
        const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: above this bound, several whole numbers have one float
        match self.head()? {
            Head::Float(n) if n.fract() == 0.0 && n.abs() <= EXACT => visitor.visit_i64(n as i64),
            head => self.visit(head, visitor),
        }
    }
}

fn extension(byte: u8) -> Invalid {
    Invalid::new(
        "nil, a boolean, a number, text, binary data, a list or a map",
        format!("a value that begins with byte {byte:#04x}"),
    )
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> { self.whole(visitor) })*
    };
}

impl<'de> de::Deserializer<'de> for &mut Reader<'de> {
    type Error = Invalid;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        let head = self.head()?;
        self.visit(head, visitor)
    }

    whole_numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        if self.rest.first() == Some(&Marker::Null.to_u8()) {
            self.take(1)?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Invalid> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads a struct. Nil is read as an empty map, because all keys may be optional.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        match self.head()? {
            Head::Nil => self.nested(0, 2, |entries| visitor.visit_map(entries)),
            Head::Map(n) => self.nested(n, 2, |entries| visitor.visit_map(entries)),
            Head::Array(_) => Err(Invalid::new("a map", "a list")),
            head => self.visit(head, visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        match self.head()? {
            Head::Str(n) => visitor.visit_enum(self.text(n)?.into_deserializer()),
            head => self.visit(head, NoName(names)).map(|never| match never {}),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// Refuses a value that is not a name. The error lists the allowed names.
struct NoName(&'static [&'static str]);

impl Visitor<'_> for NoName {
    type Value = std::convert::Infallible;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0.join(", "))
    }
}

/// The remaining entries of a list or map.
struct Entries<'r, 'de> {
    reader: &'r mut Reader<'de>,
    left: &'r mut usize,
    at: usize,
    /// The key of the next value, for the path in an error.
    key: Option<&'de str>,
}

impl Entries<'_, '_> {
    /// Advances by one entry. Returns false at the end.
    fn step(&mut self) -> bool {
        if *self.left == 0 {
            return false;
        }
        *self.left -= 1;
        self.at += 1;
        true
    }
}

impl<'de> de::SeqAccess<'de> for Entries<'_, 'de> {
    type Error = Invalid;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Invalid> {
        if !self.step() {
            return Ok(None);
        }
        let at = self.at - 1;
        seed.deserialize(&mut *self.reader).map(Some).map_err(|error| error.within(&format!("[{at}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some((*self.left).min(ALLOCATED_AT_FIRST))
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, 'de> {
    type Error = Invalid;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Invalid> {
        if !self.step() {
            return Ok(None);
        }
        let key = match self.reader.head()? {
            Head::Str(n) => self.reader.text(n)?,
            _ => return Err(Invalid::new("text as a key", "another value")),
        };
        self.key = Some(key);
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Invalid> {
        let key = self.key.take().unwrap_or_default();
        seed.deserialize(&mut *self.reader).map_err(|error| error.within(&shortened(key)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some((*self.left).min(ALLOCATED_AT_FIRST))
    }
}
