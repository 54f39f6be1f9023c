//! The rules about HTTP requests, indexed by host. Next: `policy.rs`.

use super::{
    HttpRule, JudgedRequest, MAX_INJECTED, MAX_METHODS, MAX_PATHS, PathPattern, REFUSED_METHODS, RequestPath, check_method,
};
use crate::decision::{Decision, Reason, RuleId};
use crate::entry::{Entry, Hosts, List};
use crate::invalid_entry::{Fault, InvalidEntry};
use crate::name::Name;
use crate::names::key;
use crate::ports::{DEFAULT_PORT, Ports};
use std::collections::HashMap;

/// The rules about HTTP requests.
#[derive(Debug, Default)]
pub(crate) struct HttpTable {
    by_key: HashMap<Box<str>, Vec<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    index: usize,
    ports: Ports,
    methods: Option<Vec<Box<str>>>,
    paths: Option<Vec<PathPattern>>,
    has_handler: bool,
}

/// The rules that apply to a port of a name.
pub(crate) struct Rules<'a>(Vec<&'a Compiled>);

impl HttpTable {
    /// Compiles a rule. Returns the key of the host and its ports.
    pub(crate) fn add(&mut self, index: usize, rule: &HttpRule) -> Result<(Box<str>, Ports), InvalidEntry> {
        let invalid = |fault, text: &str| InvalidEntry::new(List::Http, index, fault, text);
        let entry = Entry::parse(List::Http, &rule.host).map_err(|fault| invalid(fault, &rule.host))?;
        let key = match &entry.hosts {
            Hosts::Name(name) => key(name, false),
            Hosts::Below(parent) => key(parent, true),
            Hosts::Addresses(_) => return Err(invalid(Fault::AddressInHttp, &rule.host)),
        };
        let methods = list(rule.methods.as_ref(), MAX_METHODS, check_method);
        let paths = list(rule.paths.as_ref(), MAX_PATHS, PathPattern::parse);
        let methods = methods.map_err(|(fault, text)| invalid(fault, text))?;
        let paths = paths.map_err(|(fault, text)| invalid(fault, text))?;
        if rule.inject.len() > MAX_INJECTED {
            return Err(invalid(Fault::TooMany { most: MAX_INJECTED }, &rule.host));
        }
        let has_handler = rule.handler.is_some();
        if has_handler && !rule.inject.is_empty() {
            return Err(invalid(Fault::InjectAndHandle, &rule.host));
        }
        let rules = self.by_key.entry(key.clone()).or_default();
        if rules.iter().any(|other| other.has_handler != has_handler) {
            return Err(invalid(Fault::SomeHandled, &rule.host));
        }
        rules.push(Compiled { index, ports: entry.ports, methods, paths, has_handler });
        Ok((key, entry.ports))
    }

    /// Returns whether the app responds to the requests to a name: the rules of the deepest host
    /// that has rules decide.
    pub(crate) fn is_handled(&self, name: &Name) -> bool {
        let rules = keys(name).find_map(|key| self.by_key.get(key));
        rules.is_some_and(|rules| rules.iter().any(|rule| rule.has_handler))
    }

    /// Returns the rules of a port of a name: the rules of the deepest host that has rules for the
    /// port.
    pub(crate) fn find(&self, name: &Name, port: u16) -> Option<Rules<'_>> {
        if self.by_key.is_empty() {
            return None;
        }
        keys(name).find_map(|key| {
            let rules = self.by_key.get(key)?.iter().filter(|rule| rule.has_port(port)).collect::<Vec<_>>();
            (!rules.is_empty()).then_some(Rules(rules))
        })
    }
}

/// Returns the keys of the hosts that cover a name, the deepest first.
fn keys(name: &Name) -> impl Iterator<Item = &str> {
    let text = name.as_str();
    let wildcards = text.match_indices('.').filter_map(|(place, _)| text.get(place..));
    [text].into_iter().chain(wildcards)
}

impl Compiled {
    fn has_port(&self, port: u16) -> bool {
        match self.ports {
            Ports::Omitted => port == DEFAULT_PORT,
            Ports::Range(first, last) => (first..=last).contains(&port),
        }
    }

    fn id(&self) -> RuleId {
        RuleId { list: List::Http, index: self.index }
    }

    fn has_method(&self, method: &str) -> bool {
        self.methods.as_ref().is_none_or(|methods| methods.iter().any(|known| **known == *method))
    }

    fn has_path(&self, path: &RequestPath) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.iter().any(|pattern| pattern.matches(path)))
    }
}

impl Rules<'_> {
    /// Returns the indexes of the rules.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|rule| rule.index)
    }

    /// Judges a request. The first rule that allows the request counts.
    pub(crate) fn judge(&self, method: &str, path: &str) -> JudgedRequest {
        if REFUSED_METHODS.contains(&method) {
            return JudgedRequest::refused(Reason::Method);
        }
        let needs_path = self.0.iter().any(|rule| rule.paths.is_some());
        let normal = if needs_path { RequestPath::parse(path) } else { None };
        let allows_path = |rule: &Compiled| match &normal {
            Some(path) => rule.has_path(path),
            None => rule.paths.is_none(),
        };
        // If any rule depends on paths, an ambiguous path is refused. A rule without paths must not
        // forward the path unchanged.
        if needs_path && normal.is_none() {
            return JudgedRequest::refused(Reason::InvalidPath);
        }
        let mut refused = Decision::refused(Reason::Path);
        for rule in &self.0 {
            match (rule.has_method(method), allows_path(rule)) {
                (true, true) => return JudgedRequest { decision: Decision::Allowed { rule: Some(rule.id()) }, path: normal },
                (false, true) => refused = Decision::Refused { reason: Reason::Method, rule: Some(rule.id()) },
                (_, false) => {}
            }
        }
        JudgedRequest { decision: refused, path: normal }
    }
}

/// Compiles the texts of a list.
fn list<T>(
    texts: Option<&Vec<String>>,
    most: usize,
    compile: impl Fn(&str) -> Result<T, Fault>,
) -> Result<Option<Vec<T>>, (Fault, &str)> {
    let Some(texts) = texts else { return Ok(None) };
    if let Some(text) = texts.get(most) {
        return Err((Fault::TooMany { most }, text));
    }
    if texts.is_empty() {
        return Err((Fault::EmptyList, ""));
    }
    texts.iter().map(|text| compile(text).map_err(|fault| (fault, text.as_str()))).collect::<Result<_, _>>().map(Some)
}
