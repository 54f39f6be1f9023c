//! Terminals: calls from 0x700. Both ends of a terminal are sockets for the calls `read`, `write`,
//! `arm`, `disarm` and `close` of the sockets.

use super::system_calls;

system_calls! {
    /// A call about terminals. All calls except `open` fail with `ENOTTY` if the descriptor is not
    /// an end of a terminal, and with `EIO` after a hang-up.
    TerminalCall, blocks: false {
        /// Makes a terminal, whose slave has the path `/dev/pts/` and the number of `number`. Fails
        /// with `ENOSPC` at the limit `terminals`.
        Open(rows, columns) = 0x700 => Value("the master's descriptor");
        /// Writes the attributes in the form of Linux's `struct termios`: 36 bytes.
        GetAttributes(fd, buffer: Buffer) = 0x701 => Zero;
        /// Sets the attributes. `when` is 0 now, 1 after the output, 2 after the output, and drops
        /// the unread input. Output is never pending, so 0 and 1 are equal. A background process
        /// that neither listens to SIGTTOU nor ignores SIGTTOU receives the signal, and the call
        /// fails with `EINTR`.
        SetAttributes(fd, when, attributes: Bytes) = 0x702 => Zero;
        /// Writes the size of the window as four u16: rows, columns, 0, 0.
        GetSize(fd, buffer: Buffer) = 0x703 => Zero;
        /// Sets the size of the window. Sends SIGWINCH to the foreground group after a change.
        SetSize(fd, rows, columns) = 0x704 => Zero;
        /// Returns the foreground group. Fails with `ENOTTY` if the terminal does not control the
        /// caller's session. A master returns the group without this check.
        GetForeground(fd) = 0x705 => Value("the group");
        /// Sets the foreground group, a group of the caller's session. Fails with `ENOTTY` like
        /// `get_foreground`, with `EPERM` for a group of another session, and with `EINTR` like
        /// `set_attributes`.
        SetForeground(fd, group) = 0x706 => Zero;
        /// Returns the session that the terminal controls. Fails with `ENOTTY` without a session.
        GetSession(fd) = 0x707 => Value("the session");
        /// Makes the terminal the controlling terminal of the caller's session. Fails with `EPERM`
        /// if the caller does not lead its session, and if the session or the terminal already has
        /// the other.
        SetControlling(fd) = 0x708 => Zero;
        /// Returns the number of the terminal in `/dev/pts`.
        Number(fd) = 0x709 => Value("the number");
        /// Drops bytes: `queue` 0 is the unread input, 1 the unread output, 2 both.
        Flush(fd, queue) = 0x70a => Zero;
    }
}
