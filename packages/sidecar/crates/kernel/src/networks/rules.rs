//! The rules of a network: directed, and allow only. Next: `mailbox.rs`.

use std::ops::RangeInclusive;

/// A range of ports.
pub type PortRange = RangeInclusive<u16>;

/// Allows connections of some members to some members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkRule {
    /// The name or a tag of the connecting members. `None` means every member.
    pub from: Option<String>,
    /// The name or a tag of the listening members. `None` means every member.
    pub to: Option<String>,
    /// The ports. Empty means every port.
    pub ports: Vec<PortRange>,
}

/// The name and the tags of a member, by which rules select the member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) tags: Vec<String>,
}

impl Label {
    fn is(&self, wanted: Option<&str>) -> bool {
        wanted.is_none_or(|wanted| self.name == wanted || self.tags.iter().any(|tag| tag == wanted))
    }
}

/// Returns whether the rules allow a connection. Without rules, each member reaches each member.
pub(super) fn allow(rules: Option<&[NetworkRule]>, from: &Label, to: &Label, port: u16) -> bool {
    let Some(rules) = rules else { return true };
    rules.iter().any(|rule| {
        let has_port = rule.ports.is_empty() || rule.ports.iter().any(|range| range.contains(&port));
        has_port && from.is(rule.from.as_deref()) && to.is(rule.to.as_deref())
    })
}
