//! Reads and writes the records of an extended header. A record is `length key=value` and a
//! newline. The length includes its own digits.
//!
//! The iterator of the `tar` crate is not used, because that iterator splits at newlines, and a
//! value may contain newlines. Next: `sparse.rs`.

/// The records of an extended header that an import uses. A malformed value makes the whole header
/// invalid.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Records {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    /// The time of the last change, in nanoseconds since 1970.
    pub(super) mtime: Option<i64>,
    pub(super) uid: Option<u64>,
    pub(super) gid: Option<u64>,
    /// The names and values of extended attributes.
    pub(super) attributes: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) sparse: SparseRecords,
}

/// GNU's records about sparse files, in three versions.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct SparseRecords {
    pub(super) major: Option<u64>,
    pub(super) minor: Option<u64>,
    pub(super) name: Option<Vec<u8>>,
    /// The value of `realsize`, or of `size` in versions 0.0 and 0.1.
    pub(super) size: Option<u64>,
    /// Alternating offsets and lengths: the record `map` of version 0.1, or the records of version
    /// 0.0 in order.
    pub(super) map: Option<Vec<u64>>,
}

const NANOSECONDS: u32 = 9;
/// The beginning of the key of an extended attribute. The attribute's name follows.
pub(super) const ATTRIBUTE: &[u8] = b"SCHILY.xattr.";

/// Decodes records. Returns `None` if a record is malformed.
pub(super) fn read(bytes: &[u8]) -> Option<Records> {
    let mut records = Records::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let blank = rest.iter().take(20).position(|byte| *byte == b' ')?;
        let len = usize::try_from(number(&rest[..blank])?).ok()?;
        let record = rest.get(blank + 1..len)?;
        let (record, newline) = record.split_at(record.len().checked_sub(1)?);
        let equals = record.iter().position(|byte| *byte == b'=')?;
        if newline != b"\n" {
            return None;
        }
        records.take(&record[..equals], &record[equals + 1..])?;
        rest = &rest[len..];
    }
    Some(records)
}

impl Records {
    fn take(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let sparse = &mut self.sparse;
        match key {
            // An empty value cancels an earlier record.
            b"path" => self.path = Some(value.to_vec()).filter(|value| !value.is_empty()),
            b"linkpath" => self.link = Some(value.to_vec()).filter(|value| !value.is_empty()),
            b"size" => self.size = Some(number(value)?),
            b"mtime" => self.mtime = Some(time(value)?),
            b"uid" => self.uid = Some(number(value)?),
            b"gid" => self.gid = Some(number(value)?),
            b"GNU.sparse.major" => sparse.major = Some(number(value)?),
            b"GNU.sparse.minor" => sparse.minor = Some(number(value)?),
            b"GNU.sparse.name" => sparse.name = Some(value.to_vec()),
            b"GNU.sparse.size" | b"GNU.sparse.realsize" => sparse.size = Some(number(value)?),
            b"GNU.sparse.map" => {
                let numbers: Option<Vec<u64>> = value.split(|byte| *byte == b',').map(number).collect();
                sparse.map = Some(numbers?);
            }
            b"GNU.sparse.offset" | b"GNU.sparse.numbytes" => sparse.map.get_or_insert_default().push(number(value)?),
            _ => {
                if let Some(name) = key.strip_prefix(ATTRIBUTE) {
                    self.attributes.push((name.to_vec(), value.to_vec()));
                }
            }
        }
        Some(())
    }
}

/// Parses a decimal number without a sign. Returns `None` for other text and for a number above
/// `u64::MAX`.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

/// Parses seconds with an optional fraction. Returns nanoseconds, or `None` for other text.
fn time(text: &[u8]) -> Option<i64> {
    let (is_negative, text) = text.strip_prefix(b"-").map_or((false, text), |text| (true, text));
    let dot = text.iter().position(|byte| *byte == b'.');
    let (seconds, fraction) = dot.map_or((text, &[][..]), |dot| (&text[..dot], &text[dot + 1..]));
    let mut nanoseconds = i64::try_from(number(seconds)?).ok()?.checked_mul(10_i64.pow(NANOSECONDS))?;
    let mut unit = 10_i64.pow(NANOSECONDS - 1);
    for digit in fraction {
        nanoseconds = nanoseconds.checked_add(i64::from(char::from(*digit).to_digit(10)?) * unit)?;
        unit /= 10;
    }
    Some(if is_negative { -nanoseconds } else { nanoseconds })
}

/// Appends a record to `out`: the length of the whole record, the key, the value and a line feed.
pub(super) fn write(out: &mut Vec<u8>, key: impl AsRef<[u8]>, value: &[u8]) {
    let key = key.as_ref();
    let rest = key.len() + value.len() + 3;
    let mut len = rest + 1;
    // The length includes its own digits, so a longer length may need one more digit.
    while len != rest + len.to_string().len() {
        len = rest + len.to_string().len();
    }
    out.extend_from_slice(format!("{len} ").as_bytes());
    out.extend_from_slice(key);
    out.push(b'=');
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// Formats nanoseconds as seconds with a fraction of nine digits.
pub(super) fn seconds(nanoseconds: i64) -> String {
    let (sign, size) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    format!("{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_records_that_it_writes() {
        for len in [1, 85, 86, 87, 984, 985, 986, 9_983, 9_984, 9_985] {
            let mut out = Vec::new();
            let path = vec![b'\n'; len];
            write(&mut out, "path", &path);
            write(&mut out, "mtime", seconds(-1_500_000_000).as_bytes());
            write(&mut out, "comment", b"=");
            let records = read(&out).expect("records");
            assert_eq!((records.path, records.mtime), (Some(path), Some(-1_500_000_000)));
        }
    }

    #[test]
    fn refuses_malformed_records() {
        for bad in
            ["", "x", "5 a=", "99 a=b\n", "0 a=b\n", "6 ab\n\n", "6 a=bc", "9 size=x\n", "18446744073709551616 a=b\n", "2 \n"]
        {
            assert_eq!(read(bad.as_bytes()).is_none(), !bad.is_empty(), "{bad:?}");
        }
        assert_eq!(read(b"12 mtime=1.5\n").map(|records| records.mtime), None, "the length is one too few");
        assert_eq!(read(b"13 mtime=1.5\n").map(|records| records.mtime), Some(Some(1_500_000_000)));
    }
}
