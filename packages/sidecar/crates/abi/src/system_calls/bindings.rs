//! Bindings, functions of the app: calls from 0x600.

use super::system_calls;

system_calls! {
    /// A call about bindings.
    BindingCall, blocks: false {
        /// Calls a binding with `input`, a JSON text. Fails with `ENOENT` if no binding has the
        /// name, and with `E2BIG` for more input than the binding accepts. Fails with `ENOBUFS` if
        /// 1,024 calls, or 32 MiB of inputs and names, are pending in the runtime. An error is
        /// `{ name, message, code, ... }`.
        Call(name: Text, input: Text) = 0x600
            => Operation("0, with `=` and the result or `!` and the error, as JSON; or a negative error number and a sentence");
        /// Cancels a call. The embedder is notified, and the operation never completes.
        /// Fails with `ENOENT` if the operation's event has been queued.
        Cancel(operation) = 0x601 => Zero;
        /// Requests `{ description, inputSchema, examples }` of a binding.
        Describe(name: Text) = 0x602 => Operation("as of `call`");
    }
}
