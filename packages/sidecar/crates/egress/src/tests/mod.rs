//! Tests of several modules together.

mod addresses;
mod budget;
mod cell;
mod connect;
mod datagrams;
mod entries;
mod pins;
mod records;
mod response;
mod speed;

use crate::{Current, EgressOptions, HostFacts, HostNetwork, Name, Outside, Policy};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn options(allow: &[&str], deny: &[&str], private: &[&str]) -> EgressOptions {
    EgressOptions { outside: Outside::Deny, allow: texts(allow), deny: texts(deny), private: texts(private), http: Vec::new() }
}

fn current(options: EgressOptions) -> Current {
    Current::new(Policy::compile(options).unwrap(), HostNetwork::default())
}

fn with_host(options: EgressOptions, facts: HostFacts) -> Current {
    Current::new(Policy::compile(options).unwrap(), HostNetwork::new(facts))
}
