//! The fuzz target `certificates`: the chain of a peer, lists of revoked certificates and further
//! authorities, with any bytes.
//!
//! One authority is always trusted (`certificates/`), and its key exists no more. A chain is
//! therefore accepted only if the signed bytes of the peer's certificate are the bytes of a kept
//! certificate. Lists of revoked certificates never turn a failure into a success.

use super::path::{Rules, verify};
use super::verify::Roots;
use super::x509::{Certificate, Purpose};
use rustls::pki_types::CertificateDer;
use std::sync::OnceLock;

const ROOT: &[u8] = include_bytes!("certificates/root.der");
const MIDDLE: &[u8] = include_bytes!("certificates/middle.der");
const OWN: &[u8] = include_bytes!("certificates/own.der");
/// A time within the validity of the kept certificates, in seconds: 2030.
const NOW: i64 = 1_893_456_000;
/// A time after the validity of the kept certificates.
const LATE: i64 = 5_000_000_000;
/// The most bytes of an input.
const MOST: usize = 16 << 10;

/// Verifies a chain.
///
/// # Panics
/// Panics if a promise of the module's comment is broken.
pub fn certificates(data: &[u8]) {
    let Some((&choice, mut rest)) = data.get(..data.len().min(MOST)).and_then(<[u8]>::split_first) else { return };
    let (mut chain, mut lists, mut authorities) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((&[kind, low, high], after)) = rest.split_first_chunk::<3>() {
        let (bytes, after) = after.split_at(usize::from(u16::from_le_bytes([low, high])).min(after.len()));
        rest = after;
        match kind % 3 {
            0 => chain.push(CertificateDer::from(bytes)),
            1 => lists.push(bytes.to_vec()),
            _ => authorities.push(CertificateDer::from(bytes.to_vec())),
        }
    }
    let purpose = if choice & 1 == 0 { Purpose::Server } else { Purpose::Client };
    let now = if choice & 4 == 0 { NOW } else { LATE };
    let without = Rules { purpose, allows_partial: choice & 2 != 0, lists: Vec::new() };
    let rules = Rules { lists, ..without.clone() };
    let has_authorities = !authorities.is_empty();
    let more;
    let roots = if has_authorities {
        more = Roots::of(std::iter::once(CertificateDer::from(ROOT)).chain(authorities));
        &more
    } else {
        trusted()
    };
    let result = verify(&chain, roots, &rules, now);
    assert_eq!(verify(&chain, roots, &rules, now), result, "the result is not repeated");
    if result.is_err() {
        return;
    }
    assert_eq!(verify(&chain, roots, &without, now), Ok(()), "a list has made a chain valid");
    if !has_authorities {
        assert_eq!(now, NOW, "an expired chain is valid");
        let own = chain.first().and_then(|own| Certificate::read(own)).map(|own| own.signed_bytes());
        let kept = [ROOT, MIDDLE, OWN].map(|kept| Certificate::read(kept).map(|kept| kept.signed_bytes()));
        assert!(own.is_some() && kept.contains(&own), "a forged certificate is valid");
    }
}

fn trusted() -> &'static Roots {
    static TRUSTED: OnceLock<Roots> = OnceLock::new();
    TRUSTED.get_or_init(|| Roots::of(std::iter::once(CertificateDer::from(ROOT))))
}

#[cfg(test)]
mod tests {
    use super::{MIDDLE, NOW, OWN, trusted};
    use crate::tls::path::{Rules, verify};
    use proptest::prelude::*;
    use rustls::pki_types::CertificateDer;

    #[test]
    fn kept_chains_keep_the_promises() {
        coldframe_testing::run_kept_inputs("certificates", super::certificates);
    }

    #[test]
    fn the_kept_chain_is_valid() {
        let chain = [CertificateDer::from(OWN), CertificateDer::from(MIDDLE)];
        assert_eq!(verify(&chain, trusted(), &Rules::of_server(), NOW), Ok(()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(coldframe_testing::repetitions(500, 100_000)))]

        #[test]
        fn changed_chains_keep_the_promises(
            choice: u8,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut data = vec![choice];
            for kept in [OWN, MIDDLE] {
                data.push(0);
                data.extend(u16::try_from(kept.len()).unwrap().to_le_bytes());
                data.extend(kept);
            }
            for (index, byte) in changes {
                let at = index.index(data.len());
                data[at] = byte;
            }
            super::certificates(&data);
        }
    }
}
