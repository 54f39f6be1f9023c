//! Why a computation did not come to a result. The guest turns the number into the error that Node throws (`bootstrap/crypto/faults.js`).

/// See the module. The numbers are part of the guest ABI: append, never renumber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Fault {
    /// It was told to stop.
    Stopped = 1,
    /// The request has not the shape that the command expects.
    Malformed = 2,
    /// More memory would be needed than is allowed.
    Memory = 3,
    /// No entropy.
    Entropy = 4,
    /// A name or number that stands for nothing here.
    Unsupported = 5,
    /// Output longer than the algorithm can give.
    TooLong = 6,
    /// The key has a length that the algorithm does not take.
    KeyLength = 7,
    /// The initialization vector has a length that the algorithm does not take.
    IvLength = 8,
    /// Padding that cannot be (a wrong key, most often).
    BadDecrypt = 9,
    /// Input that is not a whole number of blocks.
    WrongFinalBlockLength = 10,
    /// The authentication tag is not that of the text.
    Unauthenticated = 11,
    /// A call in the wrong order.
    State = 12,
    /// DER that does not parse.
    Asn1 = 13,
    /// No PEM where PEM was expected.
    NoPem = 14,
    /// A PEM or DER of a kind that was not expected.
    UnexpectedKey = 15,
    /// An encrypted key without its passphrase.
    PassphraseMissing = 16,
    /// A passphrase that does not open the key.
    PassphraseWrong = 17,
    /// The key does not fit the operation.
    KeyType = 18,
    /// A point that is not on its curve, or no point at all.
    InvalidPoint = 19,
    /// A private number out of its range.
    InvalidPrivateKey = 20,
    /// More data than the RSA key can take.
    DataTooLarge = 21,
    /// Data that must be as long as the modulus and is not.
    DataLength = 22,
    /// RSA padding that does not check.
    Padding = 23,
    /// A digest too big for the RSA key.
    DigestTooBig = 24,
    /// Other lengths than the ones that the algorithm takes.
    Length = 25,
    /// A defect of ours, caught.
    Internal = 26,
    /// A shared secret that is the neutral element.
    NeutralElement = 27,
    /// A salt length that cannot be.
    SaltLength = 28,
    /// DER with another value than the one that must stand there.
    Asn1Tag = 29,
}

impl Fault {
    /// As a system call returns it: below all error numbers of Linux.
    #[must_use]
    pub fn negative(self) -> i32 {
        -(4_096 + i32::from(self as u16))
    }
}
