//! The fuzz targets `names`, `dns-answers`, `egress-rules` and `http-heads`, and their reference
//! evaluators.
//!
//! The reference evaluators follow the sentences of the modules' comments one by one, on texts and
//! lists. Next: `reference.rs`.

mod answers;
mod heads;
mod http;
mod names;
mod reference;
mod rules;

pub use answers::answers;
pub use http::http;
pub use names::names;
pub use rules::rules;

#[cfg(test)]
pub(crate) use reference::is_special;

/// Returns a short text of any characters.
fn text(input: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<String> {
    let len = usize::from(input.arbitrary::<u8>()?).min(input.len());
    Ok(String::from_utf8_lossy(input.bytes(len)?).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[test]
    fn kept_names_keep_the_promises() {
        coldframe_testing::run_kept_inputs("names", super::names);
    }

    #[test]
    fn kept_responses_keep_the_promises() {
        coldframe_testing::run_kept_inputs("dns-answers", super::answers);
    }

    #[test]
    fn kept_rules_keep_the_promises() {
        coldframe_testing::run_kept_inputs("egress-rules", super::rules);
    }

    #[test]
    fn kept_heads_keep_the_promises() {
        coldframe_testing::run_kept_inputs("http-heads", super::http);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(coldframe_testing::repetitions(500, 100_000)))]

        #[test]
        fn random_names_keep_the_promises(data in prop::collection::vec(any::<u8>(), 0..80)) {
            super::names(&data);
        }

        #[test]
        fn random_responses_keep_the_promises(data in prop::collection::vec(any::<u8>(), 0..300)) {
            super::answers(&data);
        }

        #[test]
        fn random_heads_keep_the_promises(data in prop::collection::vec(any::<u8>(), 0..300)) {
            super::http(&data);
        }

        #[test]
        fn random_rules_keep_the_promises(data in prop::collection::vec(any::<u8>(), 0..300)) {
            super::rules(&data);
        }
    }
}
