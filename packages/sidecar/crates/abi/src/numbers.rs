//! Named numbers of the ABI: events, modes, exit reasons and the arguments of small imports.

/// A named number, for the generator.
#[derive(Debug, Clone, Copy)]
pub struct NumberRow {
    /// The variant's name, as in `UserCode`.
    pub name: &'static str,
    /// The number.
    pub number: u32,
    /// The comment of the variant.
    pub docs: &'static str,
}

macro_rules! numbers {
    ($($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $docs:literal])+ $variant:ident = $number:literal,)+ })+) => {$(
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name {
            $($(#[doc = $docs])+ $variant = $number,)+
        }

        impl $name {
            /// All numbers in order.
            pub const ROWS: &'static [NumberRow] =
                &[$(NumberRow { name: stringify!($variant), number: $number, docs: concat!($($docs),+) },)+];

            /// Returns the number.
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// Returns the variant with this number.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    )+};
}

numbers! {
    /// The kind of an event.
    EventKind {
        /// Starts the program. `id` is the mode, the payload is the start block.
        Start = 1,
        /// `timer_at` has passed. `id` is 0, and there is no payload.
        Timer = 2,
        /// An operation has completed. `id` is the operation, `result` its value or a negative
        /// error number, the payload its bytes.
        Complete = 3,
        /// Evaluates a snippet in a resident runner. `id` is the evaluation and not 0. `result` is
        /// the sum of the evaluation's flags. The payload is a number of texts as a u32, the texts
        /// in the encoding of the start block, and the snippet's UTF-8 text. Without texts, the
        /// evaluation has the program's environment and working directory. Otherwise the first text
        /// is the working directory, or empty, and the other texts are variables.
        Eval = 4,
        /// The memory was restored from a snapshot. `id` is 0, the payload is the restore block.
        /// A restored VM receives this event first. The guest draws new entropy before any code of
        /// a program runs.
        Restore = 5,
        /// The sidecar has ended an evaluation. `id` is the evaluation, and there is no payload.
        /// The guest ends the work that belongs to the evaluation only.
        Abandon = 6,
    }

    /// The flags of an evaluation: `result` of the EVAL event.
    EvalFlag {
        /// The snippet may return a value.
        Returns = 1,
        /// The evaluation ends when the snippet's module has been evaluated. Servers and timers of
        /// the evaluation stay.
        UntilValue = 2,
        /// The snippet is a cell, which shares its declarations with later cells.
        Cell = 4,
        /// The cell is TypeScript.
        TypeScript = 8,
    }

    /// The purpose of a process: `id` of the START event.
    ProgramMode {
        /// Runs `source`, an ES module, to its end.
        Exec = 0,
        /// Runs `source` as `exec` does. The program may return a value.
        Run = 1,
        /// Evaluates snippets until the runner is disposed.
        Resident = 2,
        /// Runs the file at the path `source`. If `source` is empty, `argv` is a whole command line
        /// of `node`.
        File = 3,
    }

    /// `status` of the state block.
    GuestStatus {
        /// The guest waits for an event or for `timer_at`.
        Idle = 0,
        /// The program has ended.
        Exited = 1,
    }

    /// `exit_reason` and `eval_reason` of the state block.
    ExitReason {
        /// The loop is empty, or the program called `process.exit`.
        Normal = 0,
        /// An uncaught error or rejection.
        Uncaught = 1,
        /// The memory is exhausted, and the program did not catch the error.
        Memory = 2,
        /// The sidecar interrupted the guest: `poll` returned 1.
        Interrupted = 3,
    }

    /// Exit codes that the guest or the sidecar chooses.
    ExitCode {
        /// A handler of uncaught errors has thrown an error.
        BrokenHandler = 7,
        /// Nothing can settle a top-level `await`.
        Unsettled = 13,
        /// The memory is exhausted; fd 2 has V8's "JavaScript heap out of memory".
        Memory = 134,
        /// The sidecar interrupted or ended the program.
        Interrupted = 137,
    }

    /// The argument of the import `clock`.
    Clock {
        /// The wall clock: nanoseconds since 1970.
        Wall = 0,
        /// The monotonic clock. In a restored VM the clock continues from the time of the snapshot.
        Monotonic = 1,
    }

    /// The argument of the import `mark`, which exists for timings only.
    Mark {
        /// The first instruction of the user's program is about to run.
        UserCode = 1,
    }

    /// The first argument of the import `fatal`.
    FatalKind {
        /// The memory is exhausted beyond recovery.
        Memory = 1,
        /// An invariant of the guest is broken.
        Invariant = 2,
    }
}

impl ExitCode {
    /// Returns the code as a process's exit code.
    pub const fn code(self) -> i32 {
        self as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_variants_convert_both_ways() {
        for row in EventKind::ROWS {
            let kind = EventKind::from_number(row.number);
            assert_eq!(kind.map(|kind| (kind.number(), format!("{kind:?}"))), Some((row.number, row.name.to_owned())));
        }
        assert_eq!(EventKind::from_number(0), None);
        assert_eq!(EventKind::from_number(7), None);
    }
}
