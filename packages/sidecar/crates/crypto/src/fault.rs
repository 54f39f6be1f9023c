//! The reasons for which a computation fails.
//!
//! The guest turns a fault's number into the error that Node throws (`bootstrap/crypto/faults.js`).

/// The reason for which a computation failed. The numbers are part of the guest ABI: new faults are
/// appended, and numbers never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Fault {
    /// The watch stopped the computation.
    Stopped = 1,
    /// The request lacks a field, or a field has the wrong size.
    Malformed = 2,
    /// The computation needs more memory than is allowed.
    Memory = 3,
    /// The operating system returned no entropy.
    Entropy = 4,
    /// An algorithm, curve or format that is not implemented.
    Unsupported = 5,
    /// A number or an output that is longer than the algorithm allows.
    TooLong = 6,
    /// A key length that the algorithm does not support.
    KeyLength = 7,
    /// A length of the initialization vector that the algorithm does not support.
    IvLength = 8,
    /// Invalid padding of a decrypted message, usually because the key is wrong.
    BadDecrypt = 9,
    /// Input that is not a whole number of blocks.
    WrongFinalBlockLength = 10,
    /// An authentication tag that does not fit the message.
    Unauthenticated = 11,
    /// A call in the wrong order.
    State = 12,
    /// DER with an invalid length or value.
    Asn1 = 13,
    /// Text without the expected PEM block, or with an invalid block.
    NoPem = 14,
    /// A key whose kind is not the expected kind.
    UnexpectedKey = 15,
    /// An encrypted key without its passphrase.
    PassphraseMissing = 16,
    /// A passphrase that does not decrypt the key.
    PassphraseWrong = 17,
    /// A key that does not fit the operation.
    KeyType = 18,
    /// A point that is not on its curve, or an invalid encoding of a point.
    InvalidPoint = 19,
    /// A private number out of range.
    InvalidPrivateKey = 20,
    /// More data than the RSA key can encrypt.
    DataTooLarge = 21,
    /// Data that is not as long as the modulus.
    DataLength = 22,
    /// Invalid padding of an RSA block.
    Padding = 23,
    /// A digest that is too long for the RSA key.
    DigestTooBig = 24,
    /// A length that the algorithm does not support.
    Length = 25,
    /// A result that failed the computation's own check.
    Internal = 26,
    /// A shared secret that is the neutral element of the group.
    NeutralElement = 27,
    /// An invalid salt length.
    SaltLength = 28,
    /// DER whose tag is not the expected tag.
    Asn1Tag = 29,
}

impl Fault {
    /// Returns the result of a system call that fails with this fault. The value is below all error
    /// numbers of Linux.
    #[must_use]
    pub fn negative(self) -> i32 {
        -(4_096 + i32::from(self as u16))
    }
}
