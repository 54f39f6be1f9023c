//! Sockets and pipes: calls from 0x200.

use super::system_calls;

system_calls! {
    /// A call about sockets and pipes.
    SocketCall, blocks: false {
        /// Opens a socket. `domain` is 1 Unix, 2 IPv4, 10 IPv6. `type` is 1 stream, 2 datagram (not
        /// Unix).
        Socket(domain, type) = 0x200 => Value("a descriptor");
        /// Closes a descriptor. The program's operations on the socket never complete. After the
        /// last descriptor of the socket was closed, the other end reads the end of the connection.
        /// If the socket had unread bytes or `abort` is 1, the other end fails with `ECONNRESET`.
        Close(socket, abort) = 0x201 => Zero;
        /// Binds a socket. `address` is the text of an IP address, a Unix socket's path, or a name
        /// that begins with NUL. With port 0 the kernel chooses a port. `flags`: 1 = IPv6 only, 2 =
        /// shares the port with sockets of this flag. Fails with `EADDRINUSE` if the address is in
        /// use.
        Bind(socket, address: Bytes, port, flags) = 0x202 => Zero;
        /// Makes a socket a listener. Fails with `EADDRINUSE` if another socket listens at the
        /// address.
        Listen(socket, backlog) = 0x203 => Zero;
        /// Accepts a connection. Fails with `EAGAIN` if the listener's queue is empty.
        Accept(socket) = 0x204 => Value("the connection's descriptor");
        /// Connects a socket. Fails with `ECONNREFUSED` if no socket listens at the address. Fails
        /// with `EINPROGRESS` while the listener's queue is full, and for an address outside the
        /// runtime. Then arm the socket for 4, and `error` returns the outcome. A datagram socket
        /// sends to this address after the call; an empty address removes the setting.
        Connect(socket, address: Bytes, port) = 0x205 => Zero;
        /// Reads from a connection. Fails with `EAGAIN` if no bytes wait.
        Read(socket, buffer: Buffer) = 0x206 => Value("bytes read, 0 at the end");
        /// Writes all or some of the bytes to a connection. Fails with `EAGAIN` if the other end's
        /// buffer is full, and with `EPIPE` if the other end no longer reads.
        Write(socket, bytes: Bytes) = 0x207 => Value("bytes written");
        /// Ends the socket's sending direction. The other end then reads the end.
        Shutdown(socket) = 0x208 => Zero;
        /// Writes the socket's or the peer's address: u16 family (1, 2, 10), u16 port, the address
        /// as text.
        Name(socket, of_peer, buffer: Buffer) = 0x209 => Value("the length");
        /// Sends a message. With an empty address the message is sent to the connected address. A
        /// message is lost if the receiver's buffer is full.
        Send(socket, bytes: Bytes, address: Bytes, port) = 0x20b => Value("bytes sent");
        /// Receives a message. Bytes that do not fit are cut off. `name` receives the sender's
        /// address, in the form of the call `name`.
        Receive(socket, buffer: Buffer, name: Buffer) = 0x20c => Value("the message's length");
        /// Waits until the socket is ready for an event in `mask`: 1 input or the end, 4 output, 8
        /// an error, 16 both directions ended. The bits 8 and 16 are reported with every mask.
        Arm(socket, mask) = 0x20d => Operation("the readiness, once");
        /// Cancels an operation of `arm`.
        Disarm(socket, operation) = 0x20e => Value("1 if the operation is cancelled, 0 if its event has been queued");
        /// Clears the socket's pending error, and fails with that error.
        Error(socket) = 0x20f => Zero;
        /// Opens two connected sockets, as a pipe, and writes their descriptors as two u32.
        Pair(buffer: Buffer) = 0x210 => Zero;
        /// Passes the socket `other` to the reader at the other end of the Unix connection
        /// `socket`. Fails with `EOPNOTSUPP` if `other` is not a socket, and with `ETOOMANYREFS` if
        /// 16 passed sockets wait.
        Offer(socket, other) = 0x211 => Zero;
        /// Receives the first passed socket. Fails with `EAGAIN` if no passed socket waits.
        Collect(socket) = 0x212 => Value("a descriptor");
        /// Looks up the addresses of a host name. `family` is 0 for all addresses, 4 or 6. The
        /// bytes of the event are the addresses with spaces between them. If the result is
        /// negative, the bytes are a code such as `EAI_AGAIN` and an explanation (see `explain`),
        /// with NUL between them. Fails with `ENOENT` for a name that never exists, and with
        /// `EACCES` without the permission.
        LookUp(name: Text, family) = 0x213 => Operation("0, or 0 at once if the name means the guest's machine");
        /// Queries the DNS records of a name. `type` is the number of the type in DNS. The bytes of
        /// the event are JSON in the shapes of `node:dns`, or a code of c-ares and an explanation.
        /// Fails like `look_up`.
        Query(name: Text, type) = 0x214 => Operation("0, or 0 at once if the name means the guest's machine");
        /// Cancels a lookup or query.
        CancelLookUp(operation) = 0x215 => Value("1 if the operation is cancelled, 0 if its event has been queued");
        /// Writes the explanation of a refused connection to the outside, and removes the
        /// explanation. The texts are a sentence, the stable reason and the rule, with NUL between
        /// them.
        Explain(socket, buffer: Buffer) = 0x216 => Value("the length, 0 without an explanation");
        /// Opens a session of TLS. The program moves the bytes of the session (crate `edge`,
        /// `tls/records.rs`) with `read` and `write`. Needs no permission, because no byte leaves
        /// the runtime. Fails with `EACCES` if sessions are not available.
        OpenTls() = 0x217 => Value("a descriptor");
        /// Opens a session of TLS that is attached to a connection to the outside. From now on the
        /// edge process moves the encrypted bytes of the session. The program reads `socket` to its
        /// end, passes the bytes to the session, and ends its sending direction. Fails with
        /// `ENOTCONN` if `socket` is no open connection to the outside, and with `EALREADY` if the
        /// connection has a session.
        AttachTls(socket) = 0x218 => Value("a descriptor");
    }
}
