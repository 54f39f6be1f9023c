//! Clocks: calls from 0x500.

use super::system_calls;

system_calls! {
    /// A call about time zones.
    ClockCall, blocks: false {
        /// Returns the offset of a zone at `ms`, in milliseconds since 1970. `ms` is UTC, or a
        /// local time if `is_local` is 1. Fails with `ENOENT` for a zone that the database does not
        /// have.
        ZoneOffset(name: Text, ms, is_local) = 0x500
            => Value("`(seconds east of Greenwich + 200,000) * 2`, and 1 more in summer time");
    }
}
