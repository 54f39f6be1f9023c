//! Compares the line discipline with a recording of Linux, and checks the bounds of its queues with
//! random attributes and bytes. `record.py` made the recording.

use super::attributes::{Attributes, ICANON, IXON};
use super::discipline::{Discipline, Fetched, Queue};
use super::{ATTRIBUTE_BYTES, ECHO_BYTES, INPUT_BYTES, KeyboardSignal, OUTPUT_BYTES};
use proptest::prelude::*;
use serde_json::Value;

const RECORDING: &str = include_str!("linux.json");

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn bytes(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("hexadecimal text");
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("a byte")).collect()
}

fn attributes(input: &Value, output: &Value, local: &Value, characters: &Value) -> Attributes {
    let characters: Vec<u8> = characters.as_array().expect("a list").iter().map(|byte| number(byte) as u8).collect();
    Attributes {
        input: number(input) as u32,
        output: number(output) as u32,
        local: number(local) as u32,
        characters: characters.try_into().expect("19 characters"),
        ..Attributes::default()
    }
}

/// Writes all bytes that the discipline accepts.
fn type_all(terminal: &mut Discipline, bytes: &[u8]) -> Vec<KeyboardSignal> {
    let (mut signals, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match terminal.write_input(&bytes[at..], |signal| signals.push(signal)) {
            0 => break,
            count => at += count,
        }
    }
    signals
}

fn shown(terminal: &mut Discipline) -> Vec<u8> {
    let mut all = Vec::new();
    while !terminal.output().is_empty() {
        let part = terminal.output().to_vec();
        terminal.take_output(part.len());
        all.extend(part);
    }
    all
}

fn read(terminal: &mut Discipline, len: usize) -> Option<Vec<u8>> {
    let mut buffer = vec![0; len];
    match terminal.read_input(&mut buffer, false) {
        Fetched::Bytes(count) => Some(buffer[..count].to_vec()),
        Fetched::Nothing => None,
    }
}

#[test]
fn behaves_as_the_recording_of_linux() {
    let cases: Value = serde_json::from_str(RECORDING).expect("JSON");
    let cases = cases.as_array().expect("a list");
    assert!(cases.len() > 150, "{}", cases.len());
    let mut failures = Vec::new();
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let mut terminal = Discipline::default();
        terminal.set_attributes(attributes(&case["input"], &case["output"], &case["local"], &case["characters"]));
        for (at, step) in case["steps"].as_array().expect("a list").iter().enumerate() {
            let (found, recorded) = match step[0].as_str().expect("a kind") {
                "type" => {
                    type_all(&mut terminal, &bytes(&step[1]));
                    continue;
                }
                "set" => {
                    terminal.set_attributes(attributes(&step[1], &step[2], &step[3], &step[4]));
                    continue;
                }
                "print" => (vec![terminal.write_output(&bytes(&step[1])) as u8], vec![number(&step[2]) as u8]),
                "show" => (shown(&mut terminal), bytes(&step[1])),
                "read" => {
                    let found = read(&mut terminal, number(&step[1]) as usize);
                    let recorded = (!step[2].is_null()).then(|| bytes(&step[2]));
                    assert_eq!(found.is_some(), recorded.is_some(), "{name}, step {at}: {found:?} {recorded:?}");
                    (found.unwrap_or_default(), recorded.unwrap_or_default())
                }
                other => panic!("{other}"),
            };
            if found != recorded {
                failures.push(format!(
                    "{name}, step {at}\n  found    {:?}\n  recorded {:?}",
                    String::from_utf8_lossy(&found),
                    String::from_utf8_lossy(&recorded)
                ));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} cases\n{}", failures.len(), cases.len(), failures.join("\n"));
}

#[test]
fn keyboard_signals_are_reported_in_order() {
    let mut terminal = Discipline::default();
    let signals = type_all(&mut terminal, b"a\x03b\x1c\x1a\r");
    assert_eq!(signals, [KeyboardSignal::Interrupt, KeyboardSignal::Quit, KeyboardSignal::Suspend]);
    assert_eq!(read(&mut terminal, 10), Some(b"\n".to_vec()));
}

#[test]
fn a_full_input_queue_stops_the_keyboard_until_a_read() {
    let mut terminal = Discipline::default();
    let lines = b"x\n".repeat(INPUT_BYTES);
    let mut written = 0;
    while let count @ 1.. = terminal.write_input(&lines[written..], |_| {}) {
        written += count;
        terminal.flush(Queue::Output);
    }
    assert!((INPUT_BYTES - 1..=INPUT_BYTES).contains(&written), "{written}");
    assert!(!terminal.accepts_input() && terminal.is_readable());
    assert_eq!(read(&mut terminal, 100), Some(b"x\n".to_vec()));
    assert!(terminal.accepts_input());
}

#[test]
fn output_stops_at_its_bound_and_the_echo_at_a_higher_bound() {
    let mut terminal = Discipline::default();
    assert_eq!(terminal.write_output(&[b'x'; 2 * OUTPUT_BYTES]), OUTPUT_BYTES);
    assert_eq!(terminal.write_output(b"x"), 0);
    for _ in 0..100 {
        type_all(&mut terminal, &[b'y'; 1_000]);
        type_all(&mut terminal, b"\x15");
    }
    assert!(terminal.output.bytes.len() > OUTPUT_BYTES && terminal.output.bytes.len() <= OUTPUT_BYTES + ECHO_BYTES);
    terminal.flush(Queue::Output);
    assert_eq!(type_all(&mut terminal, b"lost\x03"), [KeyboardSignal::Interrupt]);
    assert_eq!(shown(&mut terminal), b"^C");
}

#[test]
fn a_blocking_read_in_raw_mode_needs_the_least_number_of_bytes() {
    let mut raw = Attributes { local: 0, input: 0, ..Attributes::default() };
    raw.characters[super::attributes::VMIN] = 3;
    let mut terminal = Discipline::default();
    terminal.set_attributes(raw);
    type_all(&mut terminal, b"ab");
    let mut buffer = [0; 8];
    assert!(!terminal.is_readable());
    assert_eq!(terminal.read_input(&mut buffer, true), Fetched::Nothing);
    assert_eq!(terminal.read_input(&mut buffer[..2], true), Fetched::Bytes(2), "a smaller buffer");
    type_all(&mut terminal, b"cde");
    assert!(terminal.is_readable());
    assert_eq!(terminal.read_input(&mut buffer, true), Fetched::Bytes(3));
    raw.characters[super::attributes::VTIME] = 1;
    terminal.set_attributes(raw);
    type_all(&mut terminal, b"f");
    assert_eq!(terminal.read_input(&mut buffer, true), Fetched::Bytes(1), "the time between two bytes");
}

#[test]
fn attributes_survive_encoding() {
    let encoded = Attributes::default().encode();
    assert_eq!(encoded.len(), 36);
    assert_eq!(Attributes::decode(&encoded), Attributes::default());
    let stopped = Attributes { input: 0, ..Attributes::default() };
    let mut terminal = Discipline::default();
    type_all(&mut terminal, b"\x13");
    assert!(!terminal.accepts_output());
    terminal.set_attributes(stopped);
    assert!(terminal.accepts_output(), "no key could start the output again");
    assert!(Attributes::default().has_input(IXON) && Attributes::default().has_local(ICANON));
}

#[derive(Debug, Clone)]
enum Step {
    Type(Vec<u8>),
    Print(Vec<u8>),
    Set([u8; ATTRIBUTE_BYTES]),
    Read(usize, bool),
    Take(usize),
    Flush(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let special =
        prop_oneof![Just(0x7f), Just(0x15), Just(0x17), Just(0x12), Just(0x16), Just(4), Just(3), Just(13), Just(10), Just(9)];
    let keys = prop::collection::vec(prop_oneof![3 => special, 2 => any::<u8>()], 0..600);
    let flags = (any::<u32>(), any::<u32>(), any::<u32>(), prop::array::uniform20(any::<u8>()));
    let encoded = flags.prop_map(|(input, output, local, rest)| {
        let mut bytes = [0; ATTRIBUTE_BYTES];
        bytes[..4].copy_from_slice(&input.to_le_bytes());
        bytes[4..8].copy_from_slice(&output.to_le_bytes());
        bytes[12..16].copy_from_slice(&local.to_le_bytes());
        bytes[16..].copy_from_slice(&rest);
        bytes
    });
    prop_oneof![
        6 => keys.prop_map(Step::Type),
        3 => prop::collection::vec(any::<u8>(), 0..4_000).prop_map(Step::Print),
        1 => encoded.prop_map(Step::Set),
        2 => (0_usize..500, any::<bool>()).prop_map(|(len, waits)| Step::Read(len, waits)),
        1 => (0_usize..4_000).prop_map(Step::Take),
        1 => any::<bool>().prop_map(Step::Flush),
    ]
}

proptest! {
    /// The queues stay within their bounds, and every reachable state is a sound snapshot.
    #[test]
    fn queues_are_bounded_in_every_mode(steps in prop::collection::vec(step(), 1..60)) {
        let mut terminal = Discipline::default();
        for step in steps {
            match step {
                Step::Type(keys) => drop(type_all(&mut terminal, &keys)),
                Step::Print(output) => drop(terminal.write_output(&output)),
                Step::Set(encoded) => terminal.set_attributes(Attributes::decode(&encoded)),
                Step::Read(len, waits) => {
                    let mut buffer = vec![0; len];
                    let _ = terminal.read_input(&mut buffer, waits);
                }
                Step::Take(count) => terminal.take_output(count),
                Step::Flush(input) => terminal.flush(if input { Queue::Input } else { Queue::Output }),
            }
            prop_assert!(terminal.is_sound(), "{terminal:?}");
        }
    }
}
