//! The golden frames in `packages/sidecar/fixtures/frames`: the files must equal the encoder's
//! output byte for byte, and each frame must decode to its message.
//!
//! `UPDATE_FIXTURES=1 cargo test -p coldframe-protocol --test golden` writes the files after a
//! change of the protocol. Tests of the SDK also read the files. `index.json` describes each file.
//! `rmp-serde` decodes the bodies for the index, so the index does not depend on our own reader.
#![expect(clippy::unwrap_used, reason = "a test")]

mod cases;
mod json;

use std::collections::BTreeSet;
use std::path::PathBuf;

use coldframe_protocol::{Decoder, Kind, Request};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/frames")
}

fn index() -> Value {
    let entry = |case: &cases::Case| {
        let frame = coldframe_protocol::Frame::parse(&case.bytes[4..]).unwrap();
        let kind = Kind::of(frame.kind).unwrap();
        let mut entry = json!({
            "file": format!("{}.bin", case.name),
            "from": case.from,
            "kind": frame.kind,
            "name": kind.name(),
            "id": frame.id,
            "body": json::from_message_pack(frame.body),
        });
        if let Some(answers) = case.answers {
            entry["answers"] = json!(answers.name());
        }
        entry
    };
    Value::Array(cases::all().iter().map(entry).collect())
}

#[test]
fn the_files_equal_the_output_of_the_encoder() {
    let folder = folder();
    let text = format!("{}\n", serde_json::to_string_pretty(&index()).unwrap());
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for file in std::fs::read_dir(&folder).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
        std::fs::write(folder.join("index.json"), &text).unwrap();
        for case in cases::all() {
            std::fs::write(folder.join(format!("{}.bin", case.name)), case.bytes).unwrap();
        }
    }
    assert_eq!(std::fs::read_to_string(folder.join("index.json")).unwrap(), text);
    for case in cases::all() {
        assert_eq!(std::fs::read(folder.join(format!("{}.bin", case.name))).unwrap(), case.bytes, "{}", case.name);
    }
    let found: BTreeSet<_> = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name()).collect();
    let known = cases::all().iter().map(|c| format!("{}.bin", c.name).into()).chain(["index.json".into()]).collect();
    assert_eq!(found, known);
}

#[test]
fn every_kind_of_message_has_a_frame() {
    let covered: BTreeSet<u8> = cases::all().iter().map(|c| c.bytes[5]).collect();
    assert_eq!(covered, Kind::all().into_iter().map(Kind::number).collect());
}

#[test]
fn each_frame_decodes_to_its_message() {
    for case in cases::all() {
        let mut decoder = Decoder::new();
        let mut taken = 0;
        while taken < case.bytes.len() {
            assert_eq!(decoder.next_frame(), Ok(None), "{} is too short", case.name);
            taken += decoder.push(&case.bytes[taken..]);
        }
        let frame = decoder.next_frame().unwrap().unwrap();
        (case.check)(&frame);
        if case.from == "sdk" {
            Request::decode(&frame).unwrap();
        }
        assert_eq!(decoder.next_frame(), Ok(None));
    }
}
