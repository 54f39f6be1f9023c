//! Selects an algorithm's type by its number. Loops over digests of a fixed length use the type, so
//! that an iteration does not call through a pointer.

/// Runs `$body` with `$D` as the digest's type. Runs `$otherwise` for the pair of MD5 and SHA-1,
/// and for SHAKE.
macro_rules! with_digest {
    ($algorithm:expr, $D:ident => $body:expr, $otherwise:expr) => {{
        use $crate::Algorithm as A;
        macro_rules! with {
            ($type:ty) => {{
                type $D = $type;
                $body
            }};
        }
        match $algorithm {
            A::Md5 => with!(md5::Md5),
            A::Sha1 => with!(sha1::Sha1),
            A::Sha224 => with!(sha2::Sha224),
            A::Sha256 => with!(sha2::Sha256),
            A::Sha384 => with!(sha2::Sha384),
            A::Sha512 => with!(sha2::Sha512),
            A::Sha512_224 => with!(sha2::Sha512_224),
            A::Sha512_256 => with!(sha2::Sha512_256),
            A::Sha3_224 => with!(sha3::Sha3_224),
            A::Sha3_256 => with!(sha3::Sha3_256),
            A::Sha3_384 => with!(sha3::Sha3_384),
            A::Sha3_512 => with!(sha3::Sha3_512),
            A::Blake2b512 => with!(blake2::Blake2b512),
            A::Blake2s256 => with!(blake2::Blake2s256),
            A::Ripemd160 => with!(ripemd::Ripemd160),
            A::Sm3 => with!(sm3::Sm3),
            A::Md5Sha1 | A::Shake128 | A::Shake256 => $otherwise,
        }
    }};
}

pub(crate) use with_digest;
