//! The secrets of a runtime, without their values: environment variables, and the secrets of a
//! snapshot. Next: `events.rs`.

use super::options::validate;
use crate::checks::lay_over;
use coldframe_edge_link::{Change, Options, OptionsChange, SecretEntry};
use coldframe_error::Error;

/// Returns an environment with the variables of secrets: the placeholder of each secret, by its
/// name.
pub(crate) fn with_variables(mut env: Vec<(String, String)>, options: Option<&Options>) -> Vec<(String, String)> {
    let secrets = options.iter().flat_map(|options| &options.secrets);
    let variables: Vec<_> = secrets.filter_map(|secret| Some((secret.name.clone(), secret.placeholder.clone()?))).collect();
    lay_over(&mut env, &variables);
    env
}

/// Returns the options of a restored runtime. A secret of the snapshot keeps its placeholder,
/// because programs have read the placeholder already. A secret of the snapshot that `options`
/// lacks stays without a value.
pub(crate) fn restored(mut options: Options, snapshot: &[SecretEntry]) -> Options {
    for saved in snapshot {
        match options.secrets.iter_mut().find(|given| given.name == saved.name) {
            Some(given) => given.placeholder.clone_from(&saved.placeholder),
            None => options.secrets.push(saved.clone()),
        }
    }
    options
}

/// Keeps the present placeholders in a change, because programs have read them.
pub(super) fn keep_placeholders(change: &mut OptionsChange, present: &[SecretEntry]) {
    let Change::Replace(secrets) = &mut change.secrets else { return };
    for secret in secrets {
        if let Some(known) = present.iter().find(|known| known.name == secret.name) {
            secret.placeholder.clone_from(&known.placeholder);
        }
    }
}

/// Checks the secrets of a file, which a guest may have written.
pub(crate) fn check_stored(secrets: &[SecretEntry]) -> Result<(), Error> {
    validate(&Options { secrets: secrets.to_vec(), ..Options::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str, placeholder: Option<&str>, host: &str) -> SecretEntry {
        let placeholder = placeholder.map(str::to_owned);
        SecretEntry { name: name.to_owned(), placeholder, hosts: vec![host.to_owned()], ..SecretEntry::default() }
    }

    #[test]
    fn a_restored_secret_keeps_its_placeholder_and_takes_the_other_options() {
        let given = [secret("A", Some("new-a"), "new.test"), secret("B", Some("new-b"), "b.test")];
        let saved = [secret("A", Some("old-a"), "old.test"), secret("C", None, "c.test")];
        let options = restored(Options { secrets: given.to_vec(), ..Options::default() }, &saved);
        let expected =
            [secret("A", Some("old-a"), "new.test"), secret("B", Some("new-b"), "b.test"), secret("C", None, "c.test")];
        assert_eq!(options.secrets, expected);
        let pairs = |pairs: [(&str, &str); 2]| pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(with_variables(Vec::new(), Some(&options)), pairs([("A", "old-a"), ("B", "new-b")]));
    }
}
