//! The policy of a runtime: the options of the app, and their compiled form.
//!
//! The deepest rule decides, and at equal depth a rule that denies. A name is deeper than a
//! wildcard, a longer wildcard than a shorter one, a longer prefix than a shorter one. Of equal
//! hosts, an entry with a port is deeper. An entry without a port opens port 443, or denies all
//! ports. Rules about addresses and rules about names are judged separately (`connect.rs`). Next:
//! `entry.rs`.

use crate::cidr::Cidr;
use crate::decision::{Decision, Reason, RuleId};
use crate::entry::{Entry, Hosts, List, Protocol};
use crate::host_network::HostNetwork;
use crate::http::{HttpRule, HttpTable, JudgedRequest};
use crate::invalid_entry::{Fault, InvalidEntry};
use crate::name::Name;
use crate::names::{NameTable, key};
use crate::ports::{Effect, PortTable, Ports, closed_to_addresses, closed_to_names};
use crate::prefixes::Prefixes;
use crate::registry::AddressKind;
use crate::special_names::SpecialName;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};

/// The maximum number of entries of each list.
pub const MAX_ENTRIES: usize = 4_096;

/// The hosts that a runtime reaches without a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outside {
    /// No host.
    #[default]
    Deny,
    /// Every public host, on every port except 25, 53 and 853.
    Public,
}

/// The options of the app.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressOptions {
    /// The hosts that a runtime reaches without a rule.
    pub outside: Outside,
    /// Hosts that are allowed.
    pub allow: Vec<String>,
    /// Hosts that are denied.
    pub deny: Vec<String>,
    /// Addresses that are allowed although they are not public.
    pub private: Vec<String>,
    /// Rules about HTTP requests.
    pub http: Vec<HttpRule>,
}

impl EgressOptions {
    /// Returns the entries of a list. The rules about HTTP are no texts.
    pub fn list(&self, list: List) -> &[String] {
        match list {
            List::Allow => &self.allow,
            List::Deny => &self.deny,
            List::Private => &self.private,
            List::Http => &[],
        }
    }
}

/// A validated and compiled policy.
#[derive(Debug, Default)]
pub struct Policy {
    options: EgressOptions,
    tcp: Tables,
    /// Empty if no entry opens UDP.
    udp: Tables,
    http: HttpTable,
}

/// The rules about flows of one protocol.
#[derive(Debug, Default)]
struct Tables {
    names: NameTable,
    addresses: AddressTable,
    /// The entries of `private`.
    opened: AddressTable,
    /// The entries of `private` with exactly one address and one port.
    opened_exactly: HashSet<(IpAddr, u16)>,
    has_names: bool,
}

/// The rules about names, by key.
type NamedRules = HashMap<Box<str>, Vec<(Ports, Effect)>>;

/// The rules about addresses: the ports of each prefix, with the rules of all wider prefixes.
#[derive(Debug, Default)]
struct AddressTable {
    prefixes: Prefixes,
    ports: Vec<PortTable>,
}

impl AddressTable {
    fn new(rules: BTreeMap<Cidr, Vec<(Ports, Effect)>>, closed: &[u16]) -> Self {
        let keys: Vec<Cidr> = rules.keys().copied().collect();
        let (prefixes, parents) = Prefixes::new(&keys);
        let mut ports: Vec<PortTable> = Vec::with_capacity(keys.len());
        // The keys are in ascending order, so a prefix is after the prefixes around.
        for (rules, parent) in rules.values().zip(parents) {
            let own = PortTable::new(rules, closed);
            let around = parent.and_then(|parent| ports.get(parent as usize));
            ports.push(around.map_or_else(|| own.clone(), |around| own.over(around)));
        }
        Self { prefixes, ports }
    }

    fn at(&self, address: IpAddr) -> Option<&PortTable> {
        self.ports.get(self.prefixes.find(address)? as usize)
    }

    fn effect(&self, address: IpAddr, port: u16) -> Option<Effect> {
        self.at(address)?.at(port)
    }
}

impl Policy {
    /// Validates and compiles the options.
    ///
    /// # Errors
    /// Returns the first entry that is no valid entry of its list.
    pub fn compile(options: EgressOptions) -> Result<Self, InvalidEntry> {
        let mut entries: Vec<(List, Entry)> = Vec::new();
        for list in List::ALL {
            let texts = options.list(list);
            if let Some(text) = texts.get(MAX_ENTRIES) {
                return Err(InvalidEntry::new(list, MAX_ENTRIES, Fault::TooMany { most: MAX_ENTRIES }, text));
            }
            for (index, text) in texts.iter().enumerate() {
                let entry = Entry::parse(list, text).map_err(|fault| InvalidEntry::new(list, index, fault, text))?;
                entries.push((list, entry));
            }
        }
        let mut named = NamedRules::new();
        let first = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let (http, hosts) = Self::add_http(&options.http, first, &mut named)?;
        let default = match options.outside {
            Outside::Deny => PortTable::default(),
            Outside::Public => PortTable::open(closed_to_names(Protocol::Tcp)),
        };
        let opens_udp = |(list, entry): &(List, Entry)| *list != List::Deny && entry.is_about(*list, Protocol::Udp);
        let udp = match entries.iter().any(opens_udp) {
            true => Tables::new(Protocol::Udp, &entries, NamedRules::new(), &HashMap::new(), PortTable::default()),
            false => Tables::default(),
        };
        let tcp = Tables::new(Protocol::Tcp, &entries, named, &hosts, default);
        Ok(Self { options, tcp, udp, http })
    }

    /// Compiles the rules about HTTP, and adds the ports that the rules open to `names`. Returns
    /// for each host the effect on the ports that no rule opens.
    fn add_http(
        rules: &[HttpRule],
        first: u32,
        names: &mut NamedRules,
    ) -> Result<(HttpTable, HashMap<Box<str>, Effect>), InvalidEntry> {
        if let Some(rule) = rules.get(MAX_ENTRIES) {
            return Err(InvalidEntry::new(List::Http, MAX_ENTRIES, Fault::TooMany { most: MAX_ENTRIES }, &rule.host));
        }
        let (mut table, mut hosts) = (HttpTable::default(), HashMap::new());
        for ((index, rule), number) in rules.iter().enumerate().zip(first..) {
            let (key, ports) = table.add(index, rule)?;
            names.entry(key.clone()).or_default().push((ports, Effect { allows: true, rule: Some(number) }));
            hosts.entry(key).or_insert(Effect { allows: false, rule: Some(number) });
        }
        Ok((table, hosts))
    }

    /// Returns the options that were compiled.
    pub fn options(&self) -> &EgressOptions {
        &self.options
    }

    /// Returns the text of a rule.
    pub fn entry(&self, rule: RuleId) -> Option<&str> {
        match rule.list {
            List::Http => self.options.http.get(rule.index).map(|rule| rule.host.as_str()),
            list => self.options.list(list).get(rule.index).map(String::as_str),
        }
    }

    /// Returns the parent of the names that a rule covers: `example.com` for `*.example.com`.
    /// Returns `None` for other rules.
    pub fn wildcard(&self, rule: RuleId) -> Option<Name> {
        match Entry::parse(rule.list, self.entry(rule)?).ok()?.hosts {
            Hosts::Below(parent) => Some(parent),
            _ => None,
        }
    }

    /// Judges the lookup of a text that a guest passed as a host name.
    pub fn judge_text(&self, text: &str) -> Decision {
        match Name::parse(text) {
            Ok(name) => self.judge_lookup(&name),
            Err(invalid) => Decision::refused(Reason::InvalidName(invalid)),
        }
    }

    /// Judges the lookup of a name. A lookup is allowed if a connection to any port is allowed.
    pub fn judge_lookup(&self, name: &Name) -> Decision {
        if let Some(special) = SpecialName::of(name) {
            return Decision::refused(Reason::SpecialName(special));
        }
        let [tcp, udp] = [&self.tcp, &self.udp].map(|tables| tables.names.find(name));
        let decided = tcp.lookup.or(udp.lookup).or_else(|| tcp.ports.first_denied()).or_else(|| udp.ports.first_denied());
        decided.map_or(Decision::refused(Reason::NotAllowed), |effect| self.decided(effect))
    }

    fn tables(&self, protocol: Protocol) -> &Tables {
        match protocol {
            Protocol::Tcp => &self.tcp,
            Protocol::Udp => &self.udp,
        }
    }

    /// Judges a connection to a port of a name, before the name is looked up.
    pub fn judge_name(&self, name: &Name, port: u16) -> Decision {
        self.judge_name_of(Protocol::Tcp, name, port)
    }

    /// Judges a flow to a port of a name, as [`Self::judge_name`].
    pub fn judge_name_of(&self, protocol: Protocol, name: &Name, port: u16) -> Decision {
        if let Some(special) = SpecialName::of(name) {
            return Decision::refused(Reason::SpecialName(special));
        }
        let rules = self.tables(protocol).names.find(name);
        match rules.ports.at(port) {
            Some(effect) => self.decided(effect),
            None if rules.lookup.is_some() && closed_to_names(protocol).contains(&port) => Decision::refused(Reason::Port),
            None => Decision::refused(Reason::NotAllowed),
        }
    }

    /// Judges a request to a port of a name. `path` has no query.
    pub fn judge_request(&self, name: &Name, port: u16, method: &str, path: &str) -> JudgedRequest {
        let decision = self.judge_name(name, port);
        match self.http.find(name, port) {
            Some(rules) if decision.is_allowed() => rules.judge(method, path),
            _ => JudgedRequest { decision, path: None },
        }
    }

    /// Returns whether the app responds to the requests to a name. Such a name has no address
    /// outside, and is never looked up.
    pub fn is_handled(&self, name: &Name) -> bool {
        self.http.is_handled(name)
    }

    /// Judges a connection to a port of a name whose requests the app handles. Refuses a port
    /// without such a rule.
    pub fn judge_handled(&self, name: &Name, port: u16) -> Decision {
        let decision = self.judge_name(name, port);
        let rules = self.http_rules(name, port);
        let is_handled = !rules.is_empty() && rules.iter().all(|rule| rule.handler.is_some());
        if decision.is_allowed() && !is_handled { Decision::refused(Reason::NotAllowed) } else { decision }
    }

    /// Returns the rules about HTTP that apply to a port of a name. An empty list means that
    /// requests to the name are not judged.
    pub fn http_rules(&self, name: &Name, port: u16) -> Vec<&HttpRule> {
        let rules = self.http.find(name, port);
        rules.iter().flat_map(|rules| rules.indexes()).filter_map(|index| self.options.http.get(index)).collect()
    }

    /// Judges a flow to an address by the rules about addresses. Returns `None` if the address may
    /// be reached and no rule decides, so that the names of the address decide.
    pub(crate) fn judge_address(&self, protocol: Protocol, host: &HostNetwork, peer: SocketAddr) -> Option<Decision> {
        let (address, port) = (peer.ip().to_canonical(), peer.port());
        let (kind, tables) = (host.kind_of_peer(peer), self.tables(protocol));
        if !tables.opens(kind, address, port) {
            return Some(Decision::refused(Reason::PrivateAddress(kind)));
        }
        tables.addresses.effect(address, port).map(|effect| self.decided(effect))
    }

    /// Judges a flow to an address without a rule and without a name.
    pub(crate) fn judge_unnamed(&self, protocol: Protocol, port: u16) -> Decision {
        match (protocol, self.options.outside) {
            (Protocol::Tcp, Outside::Public) if closed_to_names(protocol).contains(&port) => Decision::refused(Reason::Port),
            (Protocol::Tcp, Outside::Public) if port > 0 => Decision::Allowed { rule: None },
            _ if self.tables(protocol).has_names => Decision::refused(Reason::NameNotPinned),
            _ => Decision::refused(Reason::NotAllowed),
        }
    }

    /// Returns whether a DNS response may have an address: the address is public, or `private`
    /// opens one of its ports.
    pub(crate) fn accepts_answer(&self, kind: AddressKind, address: IpAddr) -> bool {
        kind == AddressKind::Public || self.tcp.opens_any_port(kind, address) || self.udp.opens_any_port(kind, address)
    }

    fn decided(&self, effect: Effect) -> Decision {
        let rule = effect.rule.map(|number| self.rule_id(number));
        if effect.allows { Decision::Allowed { rule } } else { Decision::Refused { reason: Reason::Denied, rule } }
    }

    /// Returns the place of a rule. The rules are numbered through all lists.
    fn rule_id(&self, number: u32) -> RuleId {
        let mut index = number as usize;
        for list in List::ALL {
            let count = self.options.list(list).len();
            if index < count {
                return RuleId { list, index };
            }
            index -= count;
        }
        RuleId { list: List::Http, index }
    }
}

impl Tables {
    /// Makes the tables of a protocol. `named` has further rules about names, and `hosts` are the
    /// hosts of [`NameTable::new`]. `default` are the ports of hosts without a rule.
    fn new(
        protocol: Protocol,
        entries: &[(List, Entry)],
        mut named: NamedRules,
        hosts: &HashMap<Box<str>, Effect>,
        default: PortTable,
    ) -> Self {
        let mut addresses: BTreeMap<Cidr, Vec<(Ports, Effect)>> = BTreeMap::new();
        let mut opened: BTreeMap<Cidr, Vec<(Ports, Effect)>> = BTreeMap::new();
        let mut opened_exactly = HashSet::new();
        let mut has_names = !hosts.is_empty();
        for ((list, entry), number) in entries.iter().zip(0..).filter(|((list, entry), _)| entry.is_about(*list, protocol)) {
            let rule = (entry.ports, Effect { allows: *list != List::Deny, rule: Some(number) });
            match &entry.hosts {
                Hosts::Addresses(prefix) => {
                    addresses.entry(*prefix).or_default().push(rule);
                    if *list == List::Private {
                        opened.entry(*prefix).or_default().push(rule);
                        let port = entry.exact_port().filter(|_| prefix.is_single());
                        opened_exactly.extend(port.map(|port| (prefix.base(), port)));
                    }
                }
                Hosts::Name(name) | Hosts::Below(name) => {
                    let key = key(name, matches!(entry.hosts, Hosts::Below(_)));
                    named.entry(key).or_default().push(rule);
                    has_names |= rule.1.allows;
                }
            }
        }
        let names = NameTable::new(named, hosts, default, closed_to_names(protocol));
        let [addresses, opened] = [addresses, opened].map(|rules| AddressTable::new(rules, closed_to_addresses(protocol)));
        Self { names, addresses, opened, opened_exactly, has_names }
    }

    fn opens(&self, kind: AddressKind, address: IpAddr, port: u16) -> bool {
        match kind {
            AddressKind::Public => true,
            AddressKind::Zone => false,
            kind if kind.needs_exact_entry() => self.opened_exactly.contains(&(address, port)),
            _ => self.opened.effect(address, port).is_some(),
        }
    }

    fn opens_any_port(&self, kind: AddressKind, address: IpAddr) -> bool {
        match kind {
            kind if kind.needs_exact_entry() => self.opened_exactly.iter().any(|(opened, _)| *opened == address),
            _ => self.opened.at(address).is_some_and(|ports| ports.first_allowed().is_some()),
        }
    }
}
