//! Parses the declarations of messages.
//!
//! The parser accepts the subset of Rust and serde that the messages use. Any other declaration is
//! refused with an error that names the problem, because a guessed type could be wrong in the SDK.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Fields, GenericArgument, Ident, Item, Lit, LitInt, LitStr, Meta, PathArguments, Token, Type};

/// The declarations of all message files, and the documentation of the ids.
pub struct Protocol {
    /// The doc comment of each id.
    pub ids: BTreeMap<String, String>,
    /// Families in the order of their file names.
    pub families: Vec<Family>,
    pub types: Vec<Declared>,
}

/// The messages that one file declares.
#[derive(Default)]
pub struct Family {
    /// The name of the file.
    pub name: String,
    pub requests: Vec<Row>,
    pub events: Vec<Row>,
}

/// One message.
pub struct Row {
    pub docs: String,
    /// The name in Rust.
    pub variant: String,
    pub number: u8,
    /// The name in the protocol.
    pub name: String,
    /// The type of the body.
    pub body: String,
    /// The type of the reply. `None` means that the message has no reply.
    pub reply: Option<String>,
}

/// A struct or an enum that a message file declares.
pub struct Declared {
    pub docs: String,
    pub name: String,
    pub shape: Shape,
}

/// The shape of a declared type.
pub enum Shape {
    Struct(Vec<Field>),
    /// The text and the doc comment of each variant.
    Enum(Vec<(String, String)>),
}

/// A field of a struct.
pub struct Field {
    pub docs: String,
    /// The key in the message.
    pub name: String,
    pub kind: Kind,
    /// Whether the key may be missing.
    pub optional: bool,
}

/// The type of a field.
#[derive(Clone, PartialEq)]
pub enum Kind {
    Text,
    /// A whole number from 0.
    Natural,
    /// A whole number.
    Whole,
    Flag,
    Bytes,
    /// A map of text to one of the kinds above.
    Map(Box<Kind>),
    /// A map of text to numbers and texts.
    Details,
    List(Box<Kind>),
    /// An id of `crates/ids`.
    Id(String),
    /// A declared type.
    Declared(String),
}

/// Reads all messages of a folder, and the ids that `ids` declares.
pub fn read(folder: &Path, ids: &Path) -> Result<Protocol, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut protocol = Protocol { ids: read_ids(parse(ids)?)?, families: Vec::new(), types: Vec::new() };
    for path in paths {
        let file = parse(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name != "mod" {
            read_file(&mut protocol, name, file).map_err(|reason| format!("{}: {reason}", path.display()))?;
        }
    }
    resolve_shared(&mut protocol)?;
    Ok(protocol)
}

fn parse(path: &Path) -> Result<syn::File, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads ids that are declared as `id! { /// Doc. Name }`, as `id! { /// Doc. Name: u64 }` or as
/// `non_zero_id! { /// Doc. Name }`.
fn read_ids(file: syn::File) -> Result<BTreeMap<String, String>, String> {
    let mut ids = BTreeMap::new();
    for item in file.items {
        let Item::Macro(item) = item else { continue };
        if item.mac.path.is_ident("id") || item.mac.path.is_ident("non_zero_id") {
            let (docs, name) = item.mac.parse_body_with(documented_name).map_err(|error| error.to_string())?;
            ids.insert(name, docs);
        }
    }
    Ok(ids)
}

fn documented_name(input: ParseStream<'_>) -> syn::Result<(String, String)> {
    let docs = docs(&input.call(Attribute::parse_outer)?);
    let name = input.parse::<Ident>()?.to_string();
    if input.parse::<Option<Token![:]>>()?.is_some() {
        input.parse::<Type>()?;
    }
    Ok((docs, name))
}

fn read_file(protocol: &mut Protocol, name: String, file: syn::File) -> Result<(), String> {
    let mut family = Family { name, ..Family::default() };
    for item in file.items {
        match item {
            Item::Struct(item) => protocol.types.push(structure(&item)?),
            Item::Enum(item) => protocol.types.push(enumeration(&item)),
            Item::Macro(item) if item.mac.path.is_ident("requests") => {
                let rows: RequestRows = item.mac.parse_body().map_err(|error| error.to_string())?;
                family.requests = rows.0;
            }
            Item::Macro(item) if item.mac.path.is_ident("events") => {
                let rows: EventRows = item.mac.parse_body().map_err(|error| error.to_string())?;
                family.events = rows.0;
            }
            Item::Use(_) => {}
            other => return Err(format!("an item that the generator does not know: {other:?}")),
        }
    }
    protocol.families.push(family);
    Ok(())
}

/// Copies the number of a message that both sides send from the SDK's row.
fn resolve_shared(protocol: &mut Protocol) -> Result<(), String> {
    let numbers: Vec<_> = protocol
        .families
        .iter()
        .flat_map(|family| &family.requests)
        .map(|row| (row.variant.clone(), row.number, row.name.clone()))
        .collect();
    for event in protocol.families.iter_mut().flat_map(|family| &mut family.events).filter(|row| row.number == 0) {
        let found = numbers.iter().find(|(variant, ..)| *variant == event.variant);
        let (_, number, name) = found.ok_or_else(|| format!("{} is not a message of the SDK", event.variant))?;
        (event.number, event.name) = (*number, name.clone());
    }
    Ok(())
}

/// The input of `requests!`.
struct RequestRows(Vec<Row>);

impl Parse for RequestRows {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Token![pub]>()?;
        input.parse::<Token![enum]>()?;
        input.parse::<Ident>()?;
        input.parse::<syn::Generics>()?;
        let content;
        syn::braced!(content in input);
        Ok(Self(rows(&content)?))
    }
}

/// The input of `events!`. Rows of `shared` have no number yet.
struct EventRows(Vec<Row>);

impl Parse for EventRows {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Ident>()?;
        let content;
        syn::braced!(content in input);
        let mut all = rows(&content)?;
        if input.peek(Ident) {
            input.parse::<Ident>()?;
            let content;
            syn::braced!(content in input);
            all.extend(rows(&content)?);
        }
        Ok(Self(all))
    }
}

fn rows(input: ParseStream<'_>) -> syn::Result<Vec<Row>> {
    let rows: Punctuated<Row, Token![,]> = input.parse_terminated(Row::parse, Token![,])?;
    Ok(rows.into_iter().collect())
}

impl Parse for Row {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let docs = docs(&input.call(Attribute::parse_outer)?);
        let variant: Ident = input.parse()?;
        let content;
        syn::parenthesized!(content in input);
        let body = type_name(&content.parse()?)?;
        let (mut number, mut name, mut reply) = (0, String::new(), None);
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            number = input.parse::<LitInt>()?.base10_parse()?;
            name = input.parse::<LitStr>()?.value();
        }
        if input.peek(Token![->]) {
            input.parse::<Token![->]>()?;
            reply = Some(type_name(&input.parse()?)?);
        }
        Ok(Self { docs, variant: variant.to_string(), number, name, body, reply })
    }
}

fn type_name(given: &Type) -> syn::Result<String> {
    match given {
        Type::Path(path) => Ok(path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()),
        other => Err(syn::Error::new_spanned(other, "expected the name of a type")),
    }
}

fn structure(item: &syn::ItemStruct) -> Result<Declared, String> {
    let camel = item.attrs.iter().any(|attribute| is_serde(attribute, "rename_all"));
    let Fields::Named(fields) = &item.fields else { return Err(format!("{} has no named fields", item.ident)) };
    let field = |field: &syn::Field| -> Result<Field, String> {
        let name = field.ident.as_ref().map(|name| name.unraw().to_string()).unwrap_or_default();
        let (kind, is_option) = kind(&field.ty).map_err(|reason| format!("{}.{name}: {reason}", item.ident))?;
        let skipped = field.attrs.iter().any(|attribute| is_serde(attribute, "skip_serializing_if"));
        Ok(Field {
            docs: docs(&field.attrs),
            name: if camel { camel_case(&name) } else { name },
            kind,
            optional: is_option || skipped,
        })
    };
    let fields = fields.named.iter().map(field).collect::<Result<_, _>>()?;
    Ok(Declared { docs: docs(&item.attrs), name: item.ident.to_string(), shape: Shape::Struct(fields) })
}

/// Reads an enum. A message has the name of a variant in lower case.
fn enumeration(item: &syn::ItemEnum) -> Declared {
    let variant = |variant: &syn::Variant| (variant.ident.to_string().to_lowercase(), docs(&variant.attrs));
    let variants = item.variants.iter().map(variant).collect();
    Declared { docs: docs(&item.attrs), name: item.ident.to_string(), shape: Shape::Enum(variants) }
}

/// Returns the kind of a type, and whether the type is an `Option`.
fn kind(given: &Type) -> Result<(Kind, bool), String> {
    let unknown = || Err(format!("a type that the generator does not know: {given:?}"));
    let path = match given {
        Type::Reference(reference) => {
            return match &*reference.elem {
                Type::Path(path) if path.path.is_ident("str") => Ok((Kind::Text, false)),
                Type::Slice(_) => Ok((Kind::Bytes, false)),
                _ => unknown(),
            };
        }
        Type::Path(path) => &path.path,
        _ => return unknown(),
    };
    let Some(segment) = path.segments.last() else { return unknown() };
    let name = segment.ident.to_string();
    Ok((
        match name.as_str() {
            "u8" | "u16" | "u32" | "u64" => Kind::Natural,
            "i32" | "i64" => Kind::Whole,
            "bool" => Kind::Flag,
            "Cow" => Kind::Text,
            "Pairs" => Kind::Map(Box::new(Kind::Text)),
            "Blobs" => Kind::Map(Box::new(Kind::Bytes)),
            "Numbers" => Kind::Map(Box::new(Kind::Natural)),
            "Details" => Kind::Details,
            "Vec" => Kind::List(Box::new(kind(argument(segment)?)?.0)),
            "Option" => return Ok((kind(argument(segment)?)?.0, true)),
            id if id.ends_with("Id") || id == "Pid" => Kind::Id(name),
            _ => Kind::Declared(name),
        },
        false,
    ))
}

fn argument(segment: &syn::PathSegment) -> Result<&Type, String> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Err(format!("{} without an argument", segment.ident));
    };
    let found = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(given) => Some(given),
        _ => None,
    });
    found.ok_or_else(|| format!("{} without a type", segment.ident))
}

fn is_serde(attribute: &Attribute, key: &str) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    list.path.is_ident("serde")
        && list.tokens.to_string().split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == key)
}

/// Returns the doc comment as one line of text.
fn docs(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| {
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        let Expr::Lit(literal) = &pair.value else { return None };
        let Lit::Str(text) = &literal.lit else { return None };
        pair.path.is_ident("doc").then(|| text.value().trim().to_owned())
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ")
}

/// Converts `timeout_ms` to `timeoutMs`.
pub fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| {
        let mut letters = word.chars();
        let capital = letters.next().map(|letter| letter.to_ascii_uppercase());
        all + &capital.into_iter().chain(letters).collect::<String>()
    })
}
