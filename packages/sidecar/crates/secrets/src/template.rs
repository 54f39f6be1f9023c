//! The value of an injected header: a text in which `${NAME}` is the value of a secret, such as
//! `Bearer ${API_KEY}`. Next: `mask.rs`.

use crate::swap::MAX_HEADER_BYTES;
use crate::table::is_secret_name;
use crate::value::SecretValue;
use displaydoc::Display;
use zeroize::Zeroizing;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Secret(Box<str>),
}

/// The reason why a text is no template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum InvalidTemplate {
    /// a text of printable ASCII characters
    Character,
    /// the name of a secret in braces, such as ${{API_KEY}}
    Name,
    /// a text of at most 8192 bytes
    TooLong,
}

/// A template cannot be rendered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// The secret of this name has no value for the host.
    Secret(String),
    /// The header would be longer than [`MAX_HEADER_BYTES`].
    TooLong,
}

/// The maximum length of a template, in bytes.
const MAX_TEMPLATE_BYTES: usize = 8_192;

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// Fails if the text is no template.
    pub fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        if text.len() > MAX_TEMPLATE_BYTES {
            return Err(InvalidTemplate::TooLong);
        }
        if !text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return Err(InvalidTemplate::Character);
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').ok_or(InvalidTemplate::Name)?;
            if !is_secret_name(name) {
                return Err(InvalidTemplate::Name);
            }
            parts.extend([Part::Text(before.into()), Part::Secret(name.into())]);
            rest = after;
        }
        parts.push(Part::Text(rest.into()));
        Ok(Self(parts))
    }

    /// Returns the names of the secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Secret(name) => Some(&**name),
            Part::Text(_) => None,
        })
    }

    /// Returns the text with the values of the secrets.
    ///
    /// # Errors
    /// Fails if `value` has no value of a secret, or the text is too long.
    pub fn render<'a>(&self, value: impl Fn(&str) -> Option<&'a SecretValue>) -> Result<Zeroizing<Vec<u8>>, Unavailable> {
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in &self.0 {
            parts.push(match part {
                Part::Text(text) => text.as_bytes(),
                Part::Secret(name) => value(name).ok_or_else(|| Unavailable::Secret(name.to_string()))?.expose(),
            });
        }
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > MAX_HEADER_BYTES { Err(Unavailable::TooLong) } else { Ok(Zeroizing::new(parts.concat())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_the_values_of_secrets() {
        let value = SecretValue::new(b"${B}".to_vec()).unwrap();
        let template = Template::parse("Bearer ${A}, $x {y} ${A}").unwrap();
        assert_eq!(template.secrets().collect::<Vec<_>>(), ["A", "A"]);
        let rendered = template.render(|name| (name == "A").then_some(&value));
        assert_eq!(rendered.unwrap().as_slice(), b"Bearer ${B}, $x {y} ${B}");
        assert_eq!(template.render(|_| None).err(), Some(Unavailable::Secret("A".to_owned())));
        let long = SecretValue::new(vec![b'x'; crate::MAX_VALUE_BYTES]).unwrap();
        let five = Template::parse(&"${A}".repeat(5)).unwrap();
        assert_eq!(five.render(|_| Some(&long)).err(), Some(Unavailable::TooLong));
    }

    #[test]
    fn refuses_texts_that_are_no_templates() {
        for text in ["${A", "${}", "${a b}", "${1A}", "${${A}}"] {
            assert_eq!(Template::parse(text), Err(InvalidTemplate::Name), "{text}");
        }
        assert_eq!(Template::parse("a\r\nb"), Err(InvalidTemplate::Character));
        assert_eq!(Template::parse(&"a".repeat(8_193)), Err(InvalidTemplate::TooLong));
    }
}
