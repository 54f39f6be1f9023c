//! Cryptography: calls from 0x300. `job_wait` is in `blocking.rs`.

use super::system_calls;

system_calls! {
    /// A call about digests, ciphers and jobs.
    CryptographyCall, blocks: false {
        /// Computes the digest of at most 64 KiB. `out` has the digest's length, or any length for
        /// SHAKE.
        Digest(algorithm, bytes: Bytes, out: Buffer) = 0x300 => Value("the digest's length");
        /// Opens a digest. Fails with `ENFILE` above 4,096 contexts.
        HashOpen(algorithm) = 0x301 => Value("a context");
        /// Opens an HMAC with a key of at most 64 KiB.
        HmacOpen(algorithm, key: Bytes) = 0x302 => Value("a context");
        /// Adds at most 64 KiB to a digest or an HMAC.
        Update(context, bytes: Bytes) = 0x303 => Zero;
        /// Ends a digest or an HMAC and closes the context.
        Finish(context, out: Buffer) = 0x304 => Value("the digest's length");
        /// Copies a context.
        Copy(context) = 0x305 => Value("a context");
        /// Closes a context.
        Close(context) = 0x306 => Zero;
        /// Computes the HMAC of at most 64 KiB.
        Hmac(algorithm, key: Bytes, bytes: Bytes, out: Buffer) = 0x307 => Value("the code's length");
        /// Opens a cipher. The cipher's number is `mode << 8 | key bytes`, plus `1 << 16` to
        /// encrypt. Fails with `EINVAL` for CCM and key wrap, which exist only as commands.
        CipherOpen(cipher, key: Bytes, iv: Bytes, tag_length) = 0x308 => Value("a context");
        /// Encrypts or decrypts at most 64 KiB. The output may be longer than the input by up to a
        /// block of the cipher.
        CipherUpdate(context, bytes: Bytes, out: Buffer) = 0x309 => Value("the output's length");
        /// Writes the rest of the output, and after an authenticated encryption the tag. Closes the
        /// context.
        CipherFinish(context, out: Buffer) = 0x30a => Value("the output's length");
        /// Sets a property of a cipher: 0 the additional data, 1 the tag, 2 whether to pad.
        CipherSet(context, property, bytes: Bytes) = 0x30b => Zero;
        /// Makes a job from the first part of a request, at most 1 MiB. The bytes of requests and
        /// results count for the limit `kernelBytes`.
        JobBegin(command, bytes: Bytes) = 0x310 => Value("a job");
        /// Adds at most 1 MiB to the request of a job.
        JobAdd(job, bytes: Bytes) = 0x311 => Zero;
        /// Starts a job. The completion of the operation removes the job.
        JobStart(job) = 0x312 => Operation("0 or a fault, with the result's bytes");
        /// Reads at most 1 MiB of a result after `job_wait`.
        JobRead(job, offset, out: Buffer) = 0x314 => Value("the length of the part");
        /// Removes a job. Fails with `EBUSY` if the job is queued or runs.
        JobForget(job) = 0x315 => Zero;
        /// Runs a quick command, and fails with `EINVAL` for any other command. If the returned
        /// length is above the length of `out`, call again with a larger buffer.
        Run(command, bytes: Bytes, out: Buffer) = 0x316 => Value("the result's length");
    }
}
