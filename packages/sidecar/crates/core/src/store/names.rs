//! The names of the store's files. No path contains text of an embedder: a tenant is hashed, an id
//! is checked, and a snapshot's name is not in the path. Next: `storable.rs`.

pub(super) use crate::snapshot::is_id;

use coldframe_ids::Digest;
use sha2::{Digest as _, Sha256};

/// The ending of a snapshot file's name.
const ENDING: &str = ".snapshot";
/// The ending of a part file's name.
pub(super) const PART: &str = ".part";
/// The number of digits of a tenant's hash.
const TENANT: usize = 32;

/// Returns the hash of a tenant, with which the names of the tenant's files begin.
pub(super) fn of_tenant(tenant: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"coldframe tenant\0");
    hash.update(tenant);
    let mut digits = Digest::new(hash.finalize().into()).to_string();
    digits.truncate(TENANT);
    digits
}

/// Returns the name of a snapshot's file. Returns `None` if `id` has not the form of an id.
pub(super) fn of_file(tenant: &str, id: &str) -> Option<String> {
    is_id(id).then(|| format!("{}.{id}{ENDING}", of_tenant(tenant)))
}

/// Returns the tenant's hash and the id in the name of a snapshot's file.
pub(super) fn parse(name: &str) -> Option<(&str, &str)> {
    let (tenant, id) = name.strip_suffix(ENDING)?.split_once('.')?;
    let is_hash = tenant.len() == TENANT && tenant.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash && is_id(id)).then_some((tenant, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_have_file_names() {
        let id = format!("snap-{}", "0a".repeat(13));
        let name = of_file("../../etc", &id).expect("a name");
        assert!(!name.contains('/') && name.ends_with(&format!(".{id}.snapshot")), "{name}");
        assert_eq!(parse(&name), Some((&*of_tenant("../../etc"), &*id)));
        assert_ne!(of_tenant("a"), of_tenant("b"));
        for other in [
            "",
            "snap-",
            "../x",
            "snap-../../../../../../../../x",
            &id.to_uppercase(),
            &format!("{id}0"),
            &format!("snap-{}", "é".repeat(13)),
        ] {
            assert_eq!(of_file("t", other), None, "{other}");
            assert_eq!(parse(&format!("{}.{other}.snapshot", of_tenant("t"))), None);
        }
        for other in ["", "lock", ".snapshot", "x.part", &format!("zz.{id}.snapshot"), &name[1..], &format!("{name}.part")] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
