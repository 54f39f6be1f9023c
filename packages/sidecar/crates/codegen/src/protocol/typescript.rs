//! Writes the SDK's half of the protocol: types, decoders of the sidecar's messages, and tables of
//! all messages. The helpers that decoders call are hand-written:
//! `packages/sdk/src/protocol/check.ts`.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::source::{Declared, Field, Kind, Protocol, Shape};

const HEADER: &str = "// Generated from packages/sidecar/crates/protocol by `pnpm generate`. Do not edit.\n";

/// Writes a type for each id, an interface for each struct, and a union for each enum.
pub fn messages(protocol: &Protocol) -> String {
    let mut text = HEADER.to_owned();
    let ids: BTreeSet<_> = fields(protocol).filter_map(|field| id_of(&field.kind)).collect();
    text += "\ndeclare const brand: unique symbol;\n";
    for id in ids.iter().copied().chain(["RequestId"]) {
        text.push('\n');
        doc(&mut text, "", protocol.ids.get(id).map_or("", String::as_str));
        let _ = writeln!(text, "export type {id} = number & {{ readonly [brand]: '{id}' }};");
    }
    let sent = reachable(protocol, protocol.families.iter().flat_map(|family| &family.requests).map(|row| row.body.as_str()));
    for declared in &protocol.types {
        text.push('\n');
        doc(&mut text, "", &declared.docs);
        match &declared.shape {
            Shape::Enum(variants) => {
                let names: Vec<_> = variants.iter().map(|(name, _)| format!("'{name}'")).collect();
                let _ = writeln!(text, "export type {} = {};", declared.name, names.join(" | "));
            }
            Shape::Struct(fields) if fields.is_empty() => {
                let _ = writeln!(text, "export type {} = Record<string, never>;", declared.name);
            }
            Shape::Struct(fields) => interface(&mut text, declared, fields, sent.contains(declared.name.as_str())),
        }
    }
    text
}

fn interface(text: &mut String, declared: &Declared, fields: &[Field], is_sent: bool) {
    let _ = writeln!(text, "export interface {} {{", declared.name);
    for field in fields {
        doc(text, "  ", &field.docs);
        let (mark, undefined) = if field.optional { ("?", " | undefined") } else { ("", "") };
        let _ = writeln!(text, "  {}{mark}: {}{undefined};", field.name, type_of(&field.kind, is_sent));
    }
    text.push_str("}\n");
}

/// Returns the TypeScript type. `is_sent` states that the SDK sends the value. Lists and maps of
/// such a value are read-only, so that the channel cannot change them.
fn type_of(kind: &Kind, is_sent: bool) -> String {
    match kind {
        Kind::Text => "string".to_owned(),
        Kind::Natural | Kind::Whole => "number".to_owned(),
        Kind::Flag => "boolean".to_owned(),
        Kind::Bytes => "Uint8Array".to_owned(),
        Kind::Map(value) if is_sent => format!("Readonly<Record<string, {}>>", type_of(value, is_sent)),
        Kind::Map(value) => format!("Record<string, {}>", type_of(value, is_sent)),
        Kind::Details => "Record<string, unknown>".to_owned(),
        Kind::List(entry) if is_sent => format!("readonly {}[]", type_of(entry, is_sent)),
        Kind::List(entry) => format!("{}[]", type_of(entry, is_sent)),
        Kind::Id(name) | Kind::Declared(name) => name.clone(),
    }
}

/// Writes a decoder for each struct with fields that the sidecar sends, and a set of texts for each
/// enum.
pub fn decoders(protocol: &Protocol) -> String {
    let replies = protocol.families.iter().flat_map(|family| &family.requests).filter_map(|row| row.reply.as_deref());
    let events = protocol.families.iter().flat_map(|family| &family.events).map(|row| row.body.as_str());
    let received = reachable(protocol, replies.chain(events));
    let received: Vec<_> = protocol.types.iter().filter(|declared| received.contains(declared.name.as_str())).collect();
    let mut body = String::new();
    for declared in &received {
        match &declared.shape {
            Shape::Enum(variants) => {
                let names: Vec<_> = variants.iter().map(|(name, _)| format!("'{name}'")).collect();
                let _ = write!(
                    body,
                    "\nconst {}: ReadonlySet<unknown> = new Set([{}]);\n",
                    constant(&declared.name),
                    names.join(", ")
                );
            }
            Shape::Struct(fields) if fields.is_empty() => {}
            Shape::Struct(fields) => decoder(&mut body, protocol, &declared.name, fields),
        }
    }
    let helpers = [
        "binary",
        "binaryMap",
        "details",
        "fields",
        "flag",
        "list",
        "listOf",
        "natural",
        "naturals",
        "oneOf",
        "text",
        "textMap",
        "texts",
        "whole",
    ];
    let used: Vec<_> = helpers.into_iter().filter(|helper| body.contains(&format!("{helper}("))).collect();
    let structs = received.iter().filter(|declared| matches!(&declared.shape, Shape::Struct(fields) if !fields.is_empty()));
    let mut names: Vec<_> = structs.map(|declared| declared.name.as_str()).collect();
    names.sort_unstable();
    format!(
        "{HEADER}\nimport {{\n  {},\n}} from '../check.js';\nimport type {{\n  {},\n}} from './messages.js';\n{body}",
        used.join(",\n  "),
        names.join(",\n  ")
    )
}

fn decoder(text: &mut String, protocol: &Protocol, name: &str, fields: &[Field]) {
    let function = lower_first(name);
    let _ = write!(text, "\n/** Checks a `{name}`. */\nexport function {function}(value: unknown, at: string): {name} {{\n");
    text.push_str("  const map = fields(value, at);\n");
    for field in fields {
        let key = &field.name;
        let check = match &field.kind {
            Kind::Text => format!("text(map, at, '{key}')"),
            Kind::Natural | Kind::Id(_) => format!("natural(map, at, '{key}')"),
            Kind::Whole => format!("whole(map, at, '{key}')"),
            Kind::Flag => format!("flag(map, at, '{key}')"),
            Kind::Bytes => format!("binary(map, at, '{key}')"),
            Kind::Details => format!("details(map, at, '{key}')"),
            Kind::Map(entry) if matches!(**entry, Kind::Bytes) => format!("binaryMap(map, at, '{key}')"),
            Kind::Map(_) => format!("textMap(map, at, '{key}')"),
            Kind::List(entry) => match &**entry {
                Kind::Text => format!("texts(map, at, '{key}')"),
                Kind::Natural | Kind::Id(_) => format!("naturals(map, at, '{key}')"),
                Kind::Declared(name) if is_enum(protocol, name) => format!("listOf(map, at, '{key}', {})", constant(name)),
                Kind::Declared(name) => format!("list(map, at, '{key}', {})", lower_first(name)),
                _ => format!("list(map, at, '{key}')"),
            },
            Kind::Declared(name) if is_enum(protocol, name) => format!("oneOf(map, at, '{key}', {})", constant(name)),
            Kind::Declared(name) => format!("{}(map['{key}'], `${{at}}.{key}`)", lower_first(name)),
        };
        let condition = if field.optional { format!("if (map['{key}'] !== undefined) ") } else { String::new() };
        let _ = writeln!(text, "  {condition}{check};");
    }
    let _ = write!(text, "  return map as unknown as {name};\n}}\n");
}

/// Writes the size limits, the types of requests and notices, the numbers of all messages, and the
/// decoder of each reply.
pub fn tables(protocol: &Protocol) -> String {
    let rows: Vec<_> = protocol.families.iter().flat_map(|family| &family.requests).collect();
    let requests = || rows.iter().filter_map(|row| Some((*row, row.reply.as_deref()?)));
    let notices = || rows.iter().filter(|row| row.reply.is_none());
    let mut events: Vec<_> = protocol.families.iter().flat_map(|family| &family.events).collect();
    events.sort_by_key(|row| row.number);
    let decoded: BTreeSet<_> = requests().map(|(_, reply)| reply).filter(|reply| *reply != "Empty").map(lower_first).collect();
    let replies = requests().map(|(_, reply)| reply).filter(|reply| *reply != "Empty");
    let types: BTreeSet<_> = rows.iter().map(|row| row.body.as_str()).chain(replies).collect();

    let mut text = HEADER.to_owned();
    text += "\nimport { done } from '../check.js';\n";
    let _ = writeln!(text, "import {{\n  {},\n}} from './decoders.js';", decoded.into_iter().collect::<Vec<_>>().join(",\n  "));
    let _ =
        writeln!(text, "import type {{\n  {},\n}} from './messages.js';", types.into_iter().collect::<Vec<_>>().join(",\n  "));
    let _ = write!(
        text,
        "\n/** The largest frame, without its length, in bytes. */\nexport const MAX_FRAME_BYTES = {};\n\
         \n/** The largest `data` of an `output` message, in bytes. */\nexport const MAX_OUTPUT_BYTES = {};\n\
         \n/** Bytes of one stream that may be sent before credit arrives. */\nexport const STREAM_WINDOW_BYTES = {};\n",
        coldframe_protocol::MAX_FRAME_BYTES,
        coldframe_protocol::messages::MAX_OUTPUT_BYTES,
        coldframe_protocol::messages::STREAM_WINDOW_BYTES,
    );
    text += "\n/** Requests: the body that the SDK sends, and the reply. */\nexport interface Requests {\n";
    for (row, reply) in requests() {
        doc(&mut text, "  ", &row.docs);
        let reply = if reply == "Empty" { "void" } else { reply };
        let _ = writeln!(text, "  {}: {{ body: {}; reply: {reply} }};", key(&row.name), row.body);
    }
    text += "}\n\n/** Notices: messages of the SDK without a reply. */\nexport interface Notices {\n";
    for row in notices() {
        doc(&mut text, "  ", &row.docs);
        let _ = writeln!(text, "  {}: {};", key(&row.name), row.body);
    }
    text += "}\n\n/** The number of a request's kind, and the decoder of its reply. */\n\
             interface RequestRow<R> {\n  readonly kind: number;\n  readonly reply: (value: unknown, at: string) => R;\n}\n\
             \n/** All requests. */\n\
             export const REQUESTS: { readonly [N in keyof Requests]: RequestRow<Requests[N]['reply']> } = {\n";
    for (row, reply) in requests() {
        let decoder = if reply == "Empty" { "done".to_owned() } else { lower_first(reply) };
        let _ = writeln!(text, "  {}: {{ kind: {}, reply: {decoder} }},", key(&row.name), row.number);
    }
    text += "};\n\n/** The number of each notice. */\nexport const NOTICES: { readonly [N in keyof Notices]: number } = {\n";
    for row in notices() {
        let _ = writeln!(text, "  {}: {},", key(&row.name), row.number);
    }
    text += "};\n\n/** The numbers of the sidecar's messages. */\nexport const EVENTS = {\n";
    for row in events {
        let _ = writeln!(text, "  {}: {},", key(&row.name), row.number);
    }
    text + "} as const;\n"
}

/// Returns the types in `roots` and all types that they contain, directly or indirectly.
fn reachable<'a>(protocol: &'a Protocol, roots: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = roots.collect();
    while let Some(name) = open.pop() {
        if found.insert(name)
            && let Some(Declared { shape: Shape::Struct(fields), .. }) =
                protocol.types.iter().find(|declared| declared.name == name)
        {
            open.extend(fields.iter().filter_map(|field| declared_of(&field.kind)));
        }
    }
    found
}

fn declared_of(kind: &Kind) -> Option<&str> {
    match kind {
        Kind::Declared(name) => Some(name),
        Kind::List(entry) => declared_of(entry),
        _ => None,
    }
}

fn id_of(kind: &Kind) -> Option<&str> {
    match kind {
        Kind::Id(name) => Some(name),
        Kind::List(entry) => id_of(entry),
        _ => None,
    }
}

fn fields(protocol: &Protocol) -> impl Iterator<Item = &Field> {
    protocol.types.iter().flat_map(|declared| match &declared.shape {
        Shape::Struct(fields) => fields.as_slice(),
        Shape::Enum(_) => &[],
    })
}

fn is_enum(protocol: &Protocol, name: &str) -> bool {
    protocol.types.iter().any(|declared| declared.name == name && matches!(declared.shape, Shape::Enum(_)))
}

/// Writes a doc comment, wrapped at 100 columns and without Rust's links.
fn doc(text: &mut String, indent: &str, docs: &str) {
    const WIDTH: usize = 100;
    let docs = plain(docs);
    if indent.len() + docs.len() + "/**  */".len() <= WIDTH {
        let _ = writeln!(text, "{indent}/** {docs} */");
        return;
    }
    let _ = writeln!(text, "{indent}/**");
    let mut line = String::new();
    for word in docs.split_whitespace() {
        if !line.is_empty() && indent.len() + " * ".len() + line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{indent} * {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{indent} * {line}\n{indent} */");
}

/// Replaces each link of Rust's documentation by the link's text.
pub fn plain(docs: &str) -> String {
    let mut text = String::new();
    let mut rest = docs;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else { break };
        let after = match after.strip_prefix('(').and_then(|link| link.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
        let _ = write!(text, "{before}`{name}`");
        rest = after;
    }
    text + rest
}

fn key(name: &str) -> String {
    if name.contains('.') { format!("'{name}'") } else { name.to_owned() }
}

/// Converts `FileType` to `FILE_TYPE`.
fn constant(name: &str) -> String {
    let separated = name.chars().enumerate().flat_map(|(at, letter)| {
        let separator = (at > 0 && letter.is_ascii_uppercase()).then_some('_');
        separator.into_iter().chain([letter.to_ascii_uppercase()])
    });
    separated.collect()
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
