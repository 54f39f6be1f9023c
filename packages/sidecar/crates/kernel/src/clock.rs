//! Time zones: the offset of a zone at a point in time.
//!
//! The rules are from the zone database of the crate `jiff`. The database does not depend on the
//! host machine's installation, so two machines return equal results. The family has only the call
//! `zone_offset`.

use super::{Answer, Arguments};
use coldframe_abi::system_calls::ClockCall;
use coldframe_error::Errno;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, civil::DateTime};
use std::sync::LazyLock;

/// The maximum length of a zone name in bytes. The longest name in the database has 32 bytes.
const MAX_NAME: usize = 64;
/// A constant added to each offset, in seconds, so that no result is negative. The absolute value
/// of every offset is smaller than the constant.
const BIAS: i32 = 200_000;
const MS_PER_DAY: i64 = 86_400_000;
/// The milliseconds of 400 years. The calendar repeats every 400 years, so a time outside the range
/// of `jiff` is moved by whole cycles.
const CYCLE_MS: i64 = 146_097 * MS_PER_DAY;
/// 0001-01-02 and 9999-12-30 in milliseconds since 1970. Both times are in the range of `jiff`.
const FIRST_MS: i64 = -62_135_510_400_000;
const LAST_MS: i64 = 253_402_128_000_000;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

pub(super) fn call(call: ClockCall, arguments: &mut Arguments<'_>) -> Answer {
    match call {
        ClockCall::ZoneOffset => zone_offset(arguments),
    }
}

/// Implements `zone_offset(name, ms, is_local)`: returns `(seconds east + BIAS) * 2`, plus 1 in
/// summer time.
fn zone_offset(arguments: &mut Arguments<'_>) -> Answer {
    let name = arguments.bytes(0)?;
    if name.len() > MAX_NAME {
        return Err(Errno::EINVAL);
    }
    let name = std::str::from_utf8(name).map_err(|_| Errno::EINVAL)?;
    let zone = ZONES.get(name).map_err(|_| Errno::ENOENT)?;
    let (seconds, summer) = offset(&zone, arguments.int(2), arguments.int(3) != 0);
    Ok((i64::from(seconds) + i64::from(BIAS)) * 2 + i64::from(summer))
}

/// Returns the seconds east of Greenwich and whether summer time applies. `ms` is a time since
/// 1970, in local time if `is_local` is set, otherwise in UTC.
fn offset(zone: &TimeZone, ms: i64, is_local: bool) -> (i32, bool) {
    let ms = within_years(ms);
    let timestamp = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    if is_local {
        let civil: DateTime = TimeZone::UTC.to_datetime(timestamp);
        // The disambiguation is "compatible", as ECMA-262 21.4.1.26 requires. A local time in a gap
        // uses the offset before the gap. Of two possible times, the earlier time is used.
        let utc = zone.to_ambiguous_timestamp(civil).compatible().unwrap_or(timestamp);
        let seconds = timestamp.as_second() - utc.as_second();
        return (i32::try_from(seconds).unwrap_or(0), zone.to_offset_info(utc).dst().is_dst());
    }
    let info = zone.to_offset_info(timestamp);
    (info.offset().seconds(), info.dst().is_dst())
}

/// Moves `ms` by whole 400-year cycles into the range from `FIRST_MS` to `LAST_MS`, which `jiff`
/// supports.
fn within_years(ms: i64) -> i64 {
    if ms < FIRST_MS {
        FIRST_MS + (ms - FIRST_MS).rem_euclid(CYCLE_MS)
    } else if ms > LAST_MS {
        LAST_MS - (LAST_MS - ms).rem_euclid(CYCLE_MS)
    } else {
        ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(name: &str, ms: i64, is_local: bool) -> (i32, bool) {
        offset(&ZONES.get(name).expect("a zone of the database"), ms, is_local)
    }

    #[test]
    fn returns_the_offsets_of_winter_and_summer() {
        assert_eq!(seconds("Europe/Berlin", 0, false), (3_600, false));
        assert_eq!(seconds("Europe/Berlin", 1_750_000_000_000, false), (7_200, true));
        assert_eq!(seconds("Asia/Kolkata", 0, true), (19_800, false));
    }

    #[test]
    fn resolves_a_local_time_that_a_clock_change_skips_or_repeats() {
        // In New York, 2024-03-10 02:30 does not exist, and 2024-11-03 01:30 exists twice.
        assert_eq!(seconds("America/New_York", 1_710_037_800_000, true), (-18_000, true));
        assert_eq!(seconds("America/New_York", 1_730_597_400_000, true), (-14_400, true));
    }

    #[test]
    fn returns_a_result_for_far_years_and_hostile_arguments() {
        for ms in [i64::MIN, -8_640_000_000_000_000, FIRST_MS, LAST_MS, 8_640_000_000_000_000, i64::MAX] {
            for local in [false, true] {
                let (seconds, _) = seconds("Europe/Berlin", ms, local);
                assert!((3_000..=7_200).contains(&seconds), "{ms} {seconds}");
            }
        }
        let mut memory = *b"Nowhere/Land";
        assert_eq!(call(ClockCall::ZoneOffset, &mut Arguments::new([0, 12, 0, 0, 0, 0, 0, 0], &mut memory)), Err(Errno::ENOENT));
        assert_eq!(call(ClockCall::ZoneOffset, &mut Arguments::new([0, 99, 0, 0, 0, 0, 0, 0], &mut memory)), Err(Errno::EFAULT));
    }
}
