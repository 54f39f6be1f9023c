//! Budgets against lists of all events.

use super::name;
use crate::{Limit, LookupBudgets, NAMES_WINDOW, TokenBucket, WILDCARD_BYTES, WILDCARD_NAMES};
use proptest::prelude::*;
use std::collections::HashSet;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn a_bucket_allows_the_burst_and_then_the_rate() {
    let start = Instant::now();
    let mut bucket = TokenBucket::new(50, 200, start);
    assert_eq!((0..300).filter(|_| bucket.take(1, start)).count(), 200);
    assert!(!bucket.take(1, start + Duration::from_millis(19)));
    assert!(bucket.take(1, start + Duration::from_millis(20)));
    assert!(!bucket.take(1, start), "an earlier time adds nothing");
    assert_eq!((0..300).filter(|_| bucket.take(1, start + HOUR)).count(), 200);
    assert!(!bucket.take(201, start + HOUR + HOUR), "more than the burst");
}

#[test]
fn different_names_below_a_wildcard_are_bounded() {
    let (start, parent) = (Instant::now(), name("x.example"));
    let mut budgets = LookupBudgets::default();
    let sub = |number: usize| name(&format!("n{number}.x.example"));
    for number in 0..WILDCARD_NAMES {
        assert_eq!(budgets.take(&parent, &sub(number), start), Ok(()));
    }
    assert_eq!(budgets.take(&parent, &sub(100), start), Err(Limit::WildcardNames));
    assert_eq!(budgets.take(&parent, &sub(5), start), Ok(()), "a counted name");
    assert_eq!(budgets.take(&name("y.example"), &name("a.y.example"), start), Ok(()), "another wildcard");
    assert_eq!(budgets.take(&parent, &sub(100), start + NAMES_WINDOW), Ok(()));
}

#[test]
fn bytes_below_a_wildcard_are_bounded() {
    let (start, parent) = (Instant::now(), name("x.example"));
    let long = name(&format!("{}.{}.{}.x.example", "a".repeat(63), "b".repeat(63), "c".repeat(63)));
    let bytes = u32::try_from(long.wire_bytes()).unwrap() + 4;
    let mut budgets = LookupBudgets::default();
    for _ in 0..WILDCARD_BYTES / bytes {
        assert_eq!(budgets.take(&parent, &long, start), Ok(()));
    }
    assert_eq!(budgets.take(&parent, &long, start), Err(Limit::WildcardBytes));
    assert_eq!(budgets.take(&parent, &long, start + HOUR - Duration::from_secs(1)), Err(Limit::WildcardBytes));
    assert_eq!(budgets.take(&parent, &long, start + HOUR + Duration::from_secs(60)), Ok(()));
}

proptest! {
    #[test]
    fn no_window_exceeds_a_budget(events in prop::collection::vec((0..300_usize, 0..60_000_u64, 0..4_usize), 0..800)) {
        let (start, parent) = (Instant::now(), name("x.example"));
        let label = "a".repeat(60);
        let (mut budgets, mut now) = (LookupBudgets::default(), start);
        let mut counted: Vec<(Instant, crate::Name, u32)> = Vec::new();
        for (number, wait, burst) in events {
            // Most events follow each other at once, so that the budgets are reached.
            now += Duration::from_millis(if burst == 0 { wait } else { 0 });
            let name = name(&format!("{label}.{label}.n{number}.x.example"));
            let bytes = u32::try_from(name.wire_bytes() + 4).unwrap();
            let within = |window: Duration| counted.iter().rev().take_while(move |(at, ..)| now.duration_since(*at) < window);
            let names: HashSet<_> = within(NAMES_WINDOW).map(|(_, name, _)| name).chain([&name]).collect();
            let used = |window: Duration| within(window).map(|(.., bytes)| bytes).sum::<u32>() + bytes;
            match budgets.take(&parent, &name, now) {
                Ok(()) => {
                    prop_assert!(names.len() <= WILDCARD_NAMES && used(HOUR) <= WILDCARD_BYTES);
                    counted.push((now, name, bytes));
                }
                Err(Limit::WildcardNames) => prop_assert!(names.len() > WILDCARD_NAMES),
                // The bytes of a minute are counted until the whole minute has passed.
                Err(_) => prop_assert!(used(HOUR + Duration::from_secs(60)) > WILDCARD_BYTES),
            }
        }
    }

    #[test]
    fn a_bucket_equals_exact_arithmetic(
        rate in 1_u32..100,
        burst in 1_u32..50,
        waits in prop::collection::vec(0..500_u64, 0..100),
    ) {
        let (start, mut now) = (Instant::now(), Instant::now());
        now = now.max(start);
        let mut bucket = TokenBucket::new(rate, burst, now);
        let mut thousandths = u64::from(burst) * 1_000;
        for wait in waits {
            now += Duration::from_millis(wait);
            thousandths = (thousandths + wait * u64::from(rate)).min(u64::from(burst) * 1_000);
            let expected = thousandths >= 1_000;
            prop_assert_eq!(bucket.take(1, now), expected);
            thousandths -= if expected { 1_000 } else { 0 };
        }
    }
}
