/* The functions for sockets that WASI's libc leaves out, over the kernel's calls
   (docs/internals/guest-abi.md, "Sockets").

   The kernel's calls never wait. A function of this file waits if the descriptor is not set to
   non-blocking. A wait ends with EINTR if the program must stop or takes a signal. CPython then
   checks its signals and calls the function again. Next: names.c. */
#include "shim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>

#include "addresses.h"
#include "calls.h"
#include "signals.h"

enum {
    NON_BLOCKING = 04000,
    /* The flags of the kernel's `bind`. */
    ONLY_V6 = 1,
    SHARES_PORT = 2,
    /* The number of descriptors whose options are stored. Other descriptors have no options. */
    OPTIONS = 4096,
    /* u16 family, u16 port, and the longest text of an address. */
    NAME = 4 + CF_ADDRESS_TEXT,
    /* The sizes of the buffers that programs ask for. The kernel's buffers have this size. */
    BUFFER_SIZE = 65536,
};

/* The flags of the kernel's `bind` for each descriptor. */
static unsigned char bind_flags[OPTIONS];

static int64_t call(uint32_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f)
{
    return host_sys(number, a, b, c, d, e, f, 0, 0);
}

/* Returns a result of the kernel, or -1 with errno set. */
static int64_t result_of(int64_t result)
{
    if (result >= 0)
        return result;
    errno = cf_errno(-result);
    return -1;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static bool is_blocking(int fd)
{
    return !(call(CF_SYS_STATUS_FLAGS, fd, 0, 0, 0, 0, 0) & NON_BLOCKING);
}

static int set_non_blocking(int fd)
{
    return result_of(call(CF_SYS_SET_STATUS_FLAGS, fd, NON_BLOCKING, 0, 0, 0, 0));
}

/* Decides about a call that failed with EAGAIN. Returns true if the caller tries again after a
   wait, and false with errno set. */
static bool may_retry(int64_t result, int fd, int flags, int32_t (*wait)(int32_t fd))
{
    if (-result != CF_EAGAIN || (flags & MSG_DONTWAIT) || !is_blocking(fd))
        return false;
    int32_t waited = wait(fd);
    if (waited >= 0)
        return true;
    errno = cf_errno(-waited);
    return false;
}

static void forget_options(int fd)
{
    if (fd >= 0 && fd < OPTIONS)
        bind_flags[fd] = 0;
}

int socket(int family, int type, int protocol)
{
    int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
        return fail(EAFNOSUPPORT);
    if (kind != SOCK_STREAM && kind != SOCK_DGRAM)
        return fail(EPROTONOSUPPORT);
    int fd = result_of(call(CF_SYS_SOCKET, family, kind, 0, 0, 0, 0));
    forget_options(fd);
    if (fd >= 0 && (type & SOCK_NONBLOCK))
        set_non_blocking(fd);
    return fd;
}

int socketpair(int family, int type, int protocol, int pair[2])
{
    uint32_t ends[2];

    if (family != AF_UNIX)
        return fail(EAFNOSUPPORT);
    if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM)
        return fail(EPROTONOSUPPORT);
    if (result_of(call(CF_SYS_SOCKET_PAIR, (intptr_t)ends, sizeof(ends), 0, 0, 0, 0)) < 0)
        return -1;
    for (int end = 0; end < 2; end++) {
        pair[end] = ends[end];
        forget_options(pair[end]);
        if (type & SOCK_NONBLOCK)
            set_non_blocking(pair[end]);
    }
    return 0;
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    CfAddress to;

    if (cf_address_text(address, length, &to) < 0)
        return -1;
    int flags = fd >= 0 && fd < OPTIONS ? bind_flags[fd] : 0;
    return result_of(call(CF_SYS_SOCKET_BIND, fd, (intptr_t)to.text, to.length, to.port, flags, 0));
}

int listen(int fd, int backlog)
{
    return result_of(call(CF_SYS_SOCKET_LISTEN, fd, backlog, 0, 0, 0, 0));
}

static int name_of(int fd, int of_peer, struct sockaddr *address, socklen_t *length)
{
    unsigned char name[NAME];
    int64_t name_length = result_of(call(CF_SYS_SOCKET_NAME, fd, of_peer, (intptr_t)name, sizeof(name), 0, 0));

    if (name_length < 0)
        return -1;
    return cf_address_of_name(name, name_length < NAME ? name_length : NAME, address, length);
}

int getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    return name_of(fd, 0, address, length);
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    return name_of(fd, 1, address, length);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    int64_t made;

    while ((made = call(CF_SYS_SOCKET_ACCEPT, fd, 0, 0, 0, 0, 0)) < 0) {
        errno = cf_errno(-made);
        if (!may_retry(made, fd, 0, cf_wait_readable))
            return -1;
    }
    forget_options(made);
    if (flags & SOCK_NONBLOCK)
        set_non_blocking(made);
    /* The other end may have closed the connection already. Its address is then unknown. */
    if (address && name_of(made, 1, address, length) < 0)
        *length = 0;
    return made;
}

int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return accept4(fd, address, length, 0);
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    CfAddress to;

    if (address->sa_family == AF_UNSPEC)
        return result_of(call(CF_SYS_SOCKET_CONNECT, fd, 0, 0, 0, 0, 0));
    if (cf_address_text(address, length, &to) < 0)
        return -1;
    int64_t begun = call(CF_SYS_SOCKET_CONNECT, fd, (intptr_t)to.text, to.length, to.port, 0, 0);
    if (begun != -CF_EINPROGRESS || !is_blocking(fd))
        return result_of(begun);
    int32_t waited = cf_wait_writable(fd);
    if (waited < 0)
        return result_of(waited);
    return result_of(call(CF_SYS_SOCKET_ERROR, fd, 0, 0, 0, 0, 0));
}

/* Ends the sending direction. The kernel has no end of the receiving direction alone. */
int shutdown(int fd, int how)
{
    if (how == SHUT_RD)
        return 0;
    return result_of(call(CF_SYS_SOCKET_SHUTDOWN, fd, 0, 0, 0, 0, 0));
}

static bool is_datagram(int fd)
{
    return call(CF_SYS_KIND, fd, 0, 0, 0, 0, 0) == CF_KIND_UDP;
}

ssize_t recvfrom(int fd, void *buffer, size_t length, int flags, struct sockaddr *from, socklen_t *from_length)
{
    unsigned char name[NAME] = { 0 };
    int64_t got;

    if (flags & (MSG_PEEK | MSG_OOB))
        return fail(EOPNOTSUPP);
    bool datagram = is_datagram(fd);
    size_t done = 0;
    for (;;) {
        char *at = (char *)buffer + done;
        got = datagram ? call(CF_SYS_SOCKET_RECEIVE, fd, (intptr_t)at, length, (intptr_t)name, sizeof(name), 0)
                       : call(CF_SYS_SOCKET_READ, fd, (intptr_t)at, length - done, 0, 0, 0);
        if (got >= 0) {
            done += datagram && (size_t)got > length ? length : (size_t)got;
            if (datagram || got == 0 || done == length || !(flags & MSG_WAITALL))
                break;
            continue;
        }
        errno = cf_errno(-got);
        if (!may_retry(got, fd, flags, cf_wait_readable)) {
            if (done == 0)
                return -1;
            break;
        }
    }
    if (from && datagram)
        cf_address_of_name(name, sizeof(name), from, from_length);
    else if (from)
        *from_length = 0;
    return done;
}

ssize_t recv(int fd, void *buffer, size_t length, int flags)
{
    return recvfrom(fd, buffer, length, flags, NULL, NULL);
}

ssize_t sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t to_length)
{
    CfAddress address = { .length = 0 };
    int64_t sent;

    if (flags & MSG_OOB)
        return fail(EOPNOTSUPP);
    bool datagram = is_datagram(fd);
    if (to && datagram && cf_address_text(to, to_length, &address) < 0)
        return -1;
    if (to && !datagram)
        return fail(EISCONN);
    for (;;) {
        sent = datagram ? call(CF_SYS_SOCKET_SEND, fd, (intptr_t)bytes, length, (intptr_t)address.text, address.length,
                              address.port)
                        : call(CF_SYS_SOCKET_WRITE, fd, (intptr_t)bytes, length, 0, 0, 0);
        if (sent >= 0)
            return sent;
        errno = cf_errno(-sent);
        if (!may_retry(sent, fd, flags, cf_wait_writable))
            return -1;
    }
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    return sendto(fd, bytes, length, flags, NULL, 0);
}

/* Returns the family of a socket, or -1 with errno set. */
static int family_of(int fd)
{
    struct sockaddr_storage address = { 0 };
    socklen_t length = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &length) < 0 ? -1 : address.ss_family;
}

static int number_of_option(int fd, int level, int option, int *value)
{
    if (level == SOL_SOCKET) {
        switch (option) {
        case SO_ERROR: {
            int64_t error = call(CF_SYS_SOCKET_ERROR, fd, 0, 0, 0, 0, 0);
            if (error == -CF_EBADF || error == -CF_ENOTSOCK)
                return result_of(error);
            *value = error < 0 ? cf_errno(-error) : 0;
            return 0;
        }
        case SO_TYPE:
            *value = is_datagram(fd) ? SOCK_DGRAM : SOCK_STREAM;
            return 0;
        case SO_DOMAIN:
            *value = family_of(fd);
            return *value < 0 ? -1 : 0;
        case SO_PROTOCOL:
            *value = is_datagram(fd) ? IPPROTO_UDP : IPPROTO_TCP;
            return 0;
        case SO_REUSEPORT:
            *value = fd >= 0 && fd < OPTIONS && (bind_flags[fd] & SHARES_PORT);
            return 0;
        case SO_SNDBUF:
        case SO_RCVBUF:
            *value = BUFFER_SIZE;
            return 0;
        case SO_REUSEADDR:
        case SO_KEEPALIVE:
        case SO_BROADCAST:
        case SO_LINGER:
        case SO_ACCEPTCONN:
            *value = 0;
            return 0;
        }
    } else if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY) {
        *value = fd >= 0 && fd < OPTIONS && (bind_flags[fd] & ONLY_V6);
        return 0;
    } else if (level == IPPROTO_TCP && option == TCP_NODELAY) {
        *value = 1;
        return 0;
    }
    return fail(ENOPROTOOPT);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    int number;

    if (number_of_option(fd, level, option, &number) < 0)
        return -1;
    if (*length < sizeof(number))
        return fail(EINVAL);
    memset(value, 0, *length);
    memcpy(value, &number, sizeof(number));
    if (level != SOL_SOCKET || option != SO_LINGER)
        *length = sizeof(number);
    return 0;
}

/* Stores the options that change a bind. The other known options have no effect: the kernel's
   connections send at once, and stay open without probes. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    int number = 0, flag = 0;

    if (family_of(fd) < 0)
        return -1;
    memcpy(&number, value, length < sizeof(number) ? length : sizeof(number));
    if (level == SOL_SOCKET) {
        switch (option) {
        case SO_REUSEPORT:
            flag = SHARES_PORT;
            break;
        case SO_REUSEADDR:
        case SO_KEEPALIVE:
        case SO_BROADCAST:
        case SO_LINGER:
        case SO_SNDBUF:
        case SO_RCVBUF:
        case SO_RCVTIMEO:
        case SO_SNDTIMEO:
        case SO_OOBINLINE:
        case SO_DONTROUTE:
            return 0;
        default:
            return fail(ENOPROTOOPT);
        }
    } else if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY) {
        flag = ONLY_V6;
    } else if (level == IPPROTO_TCP || level == IPPROTO_IP || level == IPPROTO_IPV6) {
        return 0;
    } else {
        return fail(ENOPROTOOPT);
    }
    if (fd < OPTIONS)
        bind_flags[fd] = number ? bind_flags[fd] | flag : bind_flags[fd] & ~flag;
    return 0;
}
