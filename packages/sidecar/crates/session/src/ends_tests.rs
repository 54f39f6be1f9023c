//! Tests of the kept ends of programs. The tests are not in `sinks/ends.rs`, because the models
//! compile that file with the locks of loom.

use coldframe_core::{Error, Outcome};
use coldframe_ids::Pid;

use crate::sinks::{Ends, ProgramEnd};

#[test]
fn keeps_the_latest_ends_and_finds_the_latest_of_a_pid() {
    let ends = Ends::default();
    let end = |exit_code| {
        let outcome = Outcome { exit_code, ..Outcome::never_ran(Error::Canceled) };
        ProgramEnd::of(&outcome)
    };
    // 64 ends are kept.
    for number in 0..67 {
        ends.add(Pid::new(number + 2), end(number as i32));
    }
    ends.add(Pid::new(60), end(-1));
    let found = |pid| ends.find(Pid::new(pid)).map(|end| end.outcome().exit_code);
    assert_eq!([found(2), found(5), found(6), found(60), found(68)], [None, None, Some(4), Some(-1), Some(66)]);
    ends.clear();
    assert_eq!(found(68), None);
}
