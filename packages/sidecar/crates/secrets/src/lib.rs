//! Secrets in HTTP requests, as pure functions: no socket, no clock.
//!
//! A guest has a placeholder for each secret (`placeholder.rs`). At the edge, a placeholder in a
//! header is replaced by the value if the host and the header are places of the secret (`table.rs`,
//! `place.rs`, `swap.rs`). A rule can also set a header from a template (`template.rs`). A value
//! that a response repeats is masked (`mask.rs`). `sigv4.rs` and `aws_request.rs` sign requests for
//! AWS with a key that the guest does not have. Values are in a type that prints nothing and is
//! overwritten when it is dropped (`value.rs`). Next: `value.rs`.

mod aws_request;
mod mask;
mod place;
mod placeholder;
mod sigv4;
mod swap;
mod table;
mod template;
mod value;

pub use aws_request::{Claim, amz_now, amz_time};
pub use mask::{LEAST_MASKED_BYTES, Mask};
pub use place::{DEFAULT_HEADERS, NEVER_HEADER, Place, UnknownPlace};
pub use placeholder::{InvalidPlaceholder, Placeholder, PlaceholderShape};
pub use sigv4::{AwsKey, Payload, Signed, SigningRequest, UnsignableRequest, sign};
pub use swap::{MAX_HEADER_BYTES, Swapped, TooLong, swap_header};
pub use table::{Absence, Credential, Host, InvalidSecret, Secret, SecretTable, Signing, SwapFault, Target};
pub use template::{InvalidTemplate, Template, Unavailable};
pub use value::{InvalidValue, MAX_VALUE_BYTES, SecretValue};
