//! The pin set against a list of all responses.

use super::name;
use crate::{Family, MAX_NAMES_PER_ADDRESS, MAX_PINS, Name, PIN_TIMES, PinSet, PinState};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

fn address(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x0808_0000 + number))
}

fn states(pins: &PinSet, address: IpAddr, now: Instant) -> Vec<(String, PinState)> {
    let mut states: Vec<_> = pins.names_of(address, now).map(|(name, state)| (name.to_string(), state)).collect();
    states.sort_by(|one, other| one.0.cmp(&other.0));
    states
}

#[test]
fn the_time_of_a_pin_is_bounded() {
    let start = Instant::now();
    for (ttl, expected) in [(0, 5), (1, 5), (60, 60), (3_600, 3_600), (86_400, 3_600)] {
        let mut pins = PinSet::default();
        pins.record(&name("a.example"), Family::V4, &[address(1)], Duration::from_secs(ttl), start).unwrap();
        let end = start + Duration::from_secs(expected);
        let just_before = end - Duration::from_nanos(1);
        assert_eq!(states(&pins, address(1), just_before), [("a.example".to_owned(), PinState::Fresh)]);
        assert_eq!(states(&pins, address(1), end), [("a.example".to_owned(), PinState::Expired)]);
    }
}

#[test]
fn a_response_withdraws_addresses_of_its_family_only() {
    let (start, ttl) = (Instant::now(), PIN_TIMES.0);
    let long: IpAddr = "2606:4700::1".parse().unwrap();
    let mut pins = PinSet::default();
    pins.record(&name("a.example"), Family::V4, &[address(1)], ttl, start).unwrap();
    pins.record(&name("a.example"), Family::V6, &[long], ttl, start).unwrap();
    let later = start + ttl;
    pins.record(&name("a.example"), Family::V4, &[address(2)], ttl, later).unwrap();
    assert_eq!(states(&pins, long, later), [("a.example".to_owned(), PinState::Expired)]);
    assert_eq!(states(&pins, address(1), later), []);
    pins.record(&name("a.example"), Family::V6, &[], ttl, later).unwrap();
    assert_eq!(states(&pins, long, later), []);
}

#[test]
fn the_set_removes_the_oldest_pins_that_no_connection_holds() {
    let start = Instant::now();
    let mut pins = PinSet::default();
    for number in 0..MAX_PINS as u32 {
        let at = start + Duration::from_millis(number.into());
        pins.record(&name(&format!("n{number}.example")), Family::V4, &[address(number)], PIN_TIMES.1, at).unwrap();
    }
    assert!(pins.hold(address(0)));
    let now = start + Duration::from_secs(10);
    pins.record(&name("new.example"), Family::V4, &[address(70_000)], PIN_TIMES.1, now).unwrap();
    assert!(pins.is_consistent() && pins.len() < MAX_PINS);
    assert_eq!(states(&pins, address(0), now).len(), 1, "held");
    assert_eq!(states(&pins, address(1), now), []);
    assert_eq!(states(&pins, address(70_000), now).len(), 1);
}

#[test]
fn a_full_set_of_held_pins_refuses_a_pin() {
    let now = Instant::now();
    let mut pins = PinSet::default();
    for number in 0..MAX_PINS as u32 {
        pins.record(&name(&format!("n{number}.example")), Family::V4, &[address(number)], PIN_TIMES.1, now).unwrap();
        assert!(pins.hold(address(number)));
    }
    assert!(pins.record(&name("new.example"), Family::V4, &[address(70_000)], PIN_TIMES.1, now).is_err());
    assert!(pins.is_consistent());
    pins.release(address(5));
    assert!(pins.record(&name("new.example"), Family::V4, &[address(70_000)], PIN_TIMES.1, now).is_ok());
    assert_eq!(states(&pins, address(5), now), []);
}

#[test]
fn one_address_has_a_bounded_number_of_names() {
    let now = Instant::now();
    let mut pins = PinSet::default();
    for number in 0..MAX_NAMES_PER_ADDRESS as u32 + 10 {
        pins.record(&name(&format!("n{number}.example")), Family::V4, &[address(1)], PIN_TIMES.1, now).unwrap();
    }
    assert_eq!(pins.names_of(address(1), now).count(), MAX_NAMES_PER_ADDRESS);
    assert!(pins.is_consistent());
}

#[derive(Debug, Clone)]
enum Step {
    Record { name: usize, addresses: Vec<u32>, ttl: u64 },
    Wait(u64),
    Hold(u32),
    Release(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3_usize, prop::collection::vec(0..4_u32, 0..4), 0..20_u64).prop_map(|(name, addresses, ttl)| Step::Record {
            name,
            addresses,
            ttl
        }),
        (0..8_u64).prop_map(Step::Wait),
        (0..4_u32).prop_map(Step::Hold),
        (0..4_u32).prop_map(Step::Release),
    ]
}

proptest! {
    #[test]
    fn a_pin_is_fresh_exactly_while_a_response_with_the_address_is_fresh(steps in prop::collection::vec(step(), 0..40)) {
        let names: Vec<Name> = (0..3).map(|number| name(&format!("n{number}.example"))).collect();
        let (mut pins, mut now, mut responses) = (PinSet::default(), Instant::now(), Vec::new());
        let mut holds = [0_u32; 4];
        for step in steps {
            match step {
                Step::Record { name, addresses, ttl } => {
                    let list: Vec<IpAddr> = addresses.iter().map(|number| address(*number)).collect();
                    let ends = now + Duration::from_secs(ttl.max(5));
                    // A later response with the address replaces the end of the pin.
                    pins.record(&names[name], Family::V4, &list, Duration::from_secs(ttl), now).unwrap();
                    responses.push((name, addresses, ends));
                }
                Step::Wait(seconds) => now += Duration::from_secs(seconds),
                Step::Hold(number) => holds[number as usize] += u32::from(pins.hold(address(number))),
                Step::Release(number) if holds[number as usize] > 0 => {
                    holds[number as usize] -= 1;
                    pins.release(address(number));
                }
                Step::Release(_) => {}
            }
            prop_assert!(pins.is_consistent());
            for number in 0..4 {
                let found = states(&pins, address(number), now);
                prop_assert!(holds[number as usize] == 0 || !found.is_empty(), "a held address keeps a pin");
                for (index, name) in names.iter().enumerate() {
                    let last = responses.iter().rev().find(|(of, addresses, _)| *of == index && addresses.contains(&number));
                    let newest = responses.iter().rev().find(|(of, ..)| *of == index);
                    let state = found.iter().find(|(of, _)| of == name.as_str()).map(|(_, state)| *state);
                    let is_fresh = last.is_some_and(|(.., ends)| *ends > now);
                    prop_assert_eq!(state == Some(PinState::Fresh), is_fresh);
                    if state == Some(PinState::Expired) {
                        prop_assert!(newest.is_some_and(|(.., ends)| *ends <= now));
                    }
                    if state == Some(PinState::Withdrawn) {
                        prop_assert!(newest.is_some_and(|(_, addresses, ends)| *ends > now && !addresses.contains(&number)));
                    }
                }
            }
        }
    }
}
