//! Writes the generated tables of `docs/internals/protocol.md`: a table of messages for each
//! family, then one table of all types. The doc comments of the declarations are the last column.

use std::fmt::Write;

use super::source::{Kind, Protocol, Row, Shape};
use super::typescript::plain;

/// Returns the tables as Markdown, with an anchor for each type.
pub fn tables(protocol: &Protocol) -> String {
    let mut text = String::new();
    for family in &protocol.families {
        let _ = writeln!(text, "### Messages: {}\n", family.name.replace('_', " "));
        text += "| kind | name | from | body | reply | |\n|---|---|---|---|---|---|\n";
        let mut rows: Vec<_> = family.requests.iter().map(|row| (row, "SDK")).collect();
        rows.extend(family.events.iter().map(|row| (row, "sidecar")));
        rows.sort_by_key(|(row, _)| row.number);
        for (row, from) in rows {
            let Row { docs, number, name, body, reply, .. } = row;
            let body = if name == "reply" { String::new() } else { link(body) };
            let reply = reply.as_deref().map(link).unwrap_or_default();
            let _ = writeln!(text, "| {number} | `{name}` | {from} | {body} | {reply} | {} |", plain(docs));
        }
        text.push('\n');
    }
    text += "### Types\n\n`?` marks an optional field.\n\n| type | field | value | |\n|---|---|---|---|\n";
    for declared in &protocol.types {
        let _ =
            writeln!(text, "| <a id=\"{}\"></a>`{}` | | | {} |", anchor(&declared.name), declared.name, plain(&declared.docs));
        match &declared.shape {
            Shape::Struct(fields) => {
                for field in fields {
                    let mark = if field.optional { "?" } else { "" };
                    let _ = writeln!(text, "| | `{}{mark}` | {} | {} |", field.name, value(&field.kind), plain(&field.docs));
                }
            }
            Shape::Enum(variants) => {
                for (name, docs) in variants {
                    let _ = writeln!(text, "| | | `\"{name}\"` | {} |", plain(docs));
                }
            }
        }
    }
    text
}

fn value(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Natural => "whole number from 0".to_owned(),
        Kind::Whole => "whole number".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Bytes => "binary".to_owned(),
        Kind::Map(entry) => format!("map to {}", value(entry)),
        Kind::Details => "map to numbers and texts".to_owned(),
        Kind::List(entry) => format!("list of {}", value(entry)),
        Kind::Id(name) => format!("`{name}`"),
        Kind::Declared(name) => link(name),
    }
}

fn link(name: &str) -> String {
    if name == "Empty" { "`{}`".to_owned() } else { format!("[`{name}`](#{})", anchor(name)) }
}

fn anchor(name: &str) -> String {
    format!("type-{}", name.to_lowercase())
}
