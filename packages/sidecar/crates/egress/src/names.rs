//! The rules about names, indexed by name.
//!
//! One hash table has the names of all rules. `*.example.com` has the key `.example.com`, which is
//! a suffix of the names that the rule covers. The number of labels of each key is noted in a set,
//! so that a lookup tries only lengths that a key has. Next: `policy.rs`.

use crate::name::Name;
use crate::ports::{Effect, PortTable, Ports};
use std::collections::HashMap;

/// The rules about one name, or about the names below one name.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameRules {
    /// The ports, with the rules of all wider entries.
    pub(crate) ports: PortTable,
    /// The rule that allows a lookup of the name.
    pub(crate) lookup: Option<Effect>,
}

/// The table of the rules about names.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    by_key: HashMap<Box<str>, NameRules>,
    /// The rules of a name that no entry covers.
    default: NameRules,
    /// A bit for each number of labels that a wildcard's key has.
    wildcards: u128,
}

impl NameRules {
    fn new(own: &PortTable, around: &PortTable) -> Self {
        let ports = own.over(around);
        // The deepest rule is reported: a rule of the name itself, if the rule still allows a port.
        let lookup = own.first_allowed().or_else(|| ports.first_allowed());
        Self { ports, lookup }
    }
}

/// Returns the key of an entry: the name, or the suffix of the names below.
pub(crate) fn key(name: &Name, is_wildcard: bool) -> Box<str> {
    if is_wildcard { format!(".{name}").into() } else { name.as_str().into() }
}

fn dots(key: &str) -> u32 {
    key.bytes().filter(|byte| *byte == b'.').count().min(127) as u32
}

impl NameTable {
    /// Makes the table of the rules of each key. `default` are the ports of other names. A key of
    /// `hosts` closes all ports that the rules of the key do not open.
    pub(crate) fn new(
        rules: HashMap<Box<str>, Vec<(Ports, Effect)>>,
        hosts: &HashMap<Box<str>, Effect>,
        default: PortTable,
        closed: &[u16],
    ) -> Self {
        let mut made = Self { default: NameRules::new(&default, &PortTable::default()), ..Self::default() };
        made.by_key.reserve(rules.len());
        let mut rules: Vec<_> = rules.into_iter().collect();
        // A wildcard is before the wildcards below, and before all names.
        rules.sort_unstable_by_key(|(key, _)| (!key.starts_with('.'), dots(key)));
        for (key, rules) in rules {
            let own = PortTable::new(&rules, closed);
            // The suffix of a wildcard's parent begins at a later dot than the key.
            let around = made.wildcard_of(key.strip_prefix('.').unwrap_or(&key)).unwrap_or(&made.default);
            let node = match hosts.get(&key) {
                Some(effect) => NameRules::new(&own, &PortTable::new(&[(Ports::Omitted, *effect)], closed)),
                None => NameRules::new(&own, &around.ports),
            };
            if key.starts_with('.') {
                made.wildcards |= 1 << dots(&key);
            }
            made.by_key.insert(key, node);
        }
        made
    }

    /// Returns the rules of a name.
    pub(crate) fn find(&self, name: &Name) -> &NameRules {
        let name = name.as_str();
        self.by_key.get(name).or_else(|| self.wildcard_of(name)).unwrap_or(&self.default)
    }

    /// Returns the rules of the longest wildcard that covers a name.
    fn wildcard_of(&self, name: &str) -> Option<&NameRules> {
        let longest = 127_u32.checked_sub(self.wildcards.leading_zeros())?;
        // The places of the dots from the right. A longer suffix than the longest key has no rule.
        let mut places = [0_u8; 128];
        let mut count = 0_usize;
        for (place, _) in name.bytes().enumerate().rev().filter(|(_, byte)| *byte == b'.') {
            if count == longest as usize {
                break;
            }
            *places.get_mut(count)? = place as u8;
            count += 1;
        }
        (1..=count).rev().filter(|count| self.wildcards >> count & 1 == 1).find_map(|count| {
            let place = places.get(count - 1)?;
            self.by_key.get(name.get(usize::from(*place)..)?)
        })
    }
}
