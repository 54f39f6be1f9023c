/* Addresses of sockets as texts, which the kernel's calls use. Next: sockets.c. */
#include "shim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "addresses.h"

/* The numbers of the families in libc, for libc's conversions. */
enum { LIBC_INET = 1, LIBC_INET6 = 2 };

#undef inet_pton
#undef inet_ntop
int inet_pton(int family, const char *text, void *address);
const char *inet_ntop(int family, const void *address, char *text, socklen_t length);

static int libc_family(int family)
{
    return family == AF_INET ? LIBC_INET : family == AF_INET6 ? LIBC_INET6 : -1;
}

int cf_inet_pton(int family, const char *text, void *address)
{
    return inet_pton(libc_family(family), text, address);
}

const char *cf_inet_ntop(int family, const void *address, char *text, socklen_t length)
{
    return inet_ntop(libc_family(family), address, text, length);
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static int unix_text(const struct sockaddr_un *address, socklen_t length, CfAddress *out)
{
    size_t offset = offsetof(struct sockaddr_un, sun_path);

    if (length < offset || length - offset > sizeof(out->text))
        return fail(EINVAL);
    out->length = length - offset;
    memcpy(out->text, address->sun_path, out->length);
    /* A path ends at its first NUL. A name without a file begins with NUL and has any bytes. */
    if (out->length > 0 && out->text[0] != '\0')
        out->length = strnlen(out->text, out->length);
    out->port = 0;
    return 0;
}

int cf_address_text(const struct sockaddr *address, socklen_t length, CfAddress *out)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

    if (length < sizeof(address->sa_family))
        return fail(EINVAL);
    switch (address->sa_family) {
    case AF_UNIX:
        return unix_text((const struct sockaddr_un *)address, length, out);
    case AF_INET:
        if (length < sizeof(*v4) || !cf_inet_ntop(AF_INET, &v4->sin_addr, out->text, sizeof(out->text)))
            return fail(EINVAL);
        out->port = ntohs(v4->sin_port);
        break;
    case AF_INET6:
        if (length < sizeof(*v6) || !cf_inet_ntop(AF_INET6, &v6->sin6_addr, out->text, sizeof(out->text)))
            return fail(EINVAL);
        out->port = ntohs(v6->sin6_port);
        break;
    default:
        return fail(EAFNOSUPPORT);
    }
    out->length = strlen(out->text);
    return 0;
}

socklen_t cf_ip_address(const char *text, uint16_t port, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

    memset(out, 0, sizeof(*out));
    if (cf_inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        return sizeof(*v4);
    }
    if (cf_inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        return sizeof(*v6);
    }
    return 0;
}

/* Copies as much of an address as fits, and stores the whole length. */
static int copy_out(const void *address, socklen_t whole, struct sockaddr *out, socklen_t *length)
{
    memcpy(out, address, whole < *length ? whole : *length);
    *length = whole;
    return 0;
}

int cf_address_of_name(const unsigned char *name, int64_t name_length, struct sockaddr *out, socklen_t *length)
{
    enum { HEAD = 4 };
    char text[CF_ADDRESS_TEXT + 1] = "";

    if (name_length < HEAD)
        return fail(EINVAL);
    uint16_t family = name[0] | name[1] << 8;
    uint16_t port = name[2] | name[3] << 8;
    size_t text_length = name_length - HEAD;
    if (text_length > CF_ADDRESS_TEXT)
        text_length = CF_ADDRESS_TEXT;
    memcpy(text, name + HEAD, text_length);
    if (family == AF_UNIX) {
        struct sockaddr_un un = { .sun_family = AF_UNIX };
        memcpy(un.sun_path, text, text_length < sizeof(un.sun_path) ? text_length : sizeof(un.sun_path));
        /* A path has its NUL, as on Linux. A socket without a name has no path. */
        size_t end = text_length > 0 && text[0] != '\0' && text_length < sizeof(un.sun_path) ? 1 : 0;
        return copy_out(&un, offsetof(struct sockaddr_un, sun_path) + text_length + end, out, length);
    }
    struct sockaddr_storage storage;
    socklen_t whole = cf_ip_address(text, port, &storage);
    /* A socket that is not bound has no text. */
    if (whole == 0)
        whole = cf_ip_address(family == AF_INET6 ? "::" : "0.0.0.0", port, &storage);
    return copy_out(&storage, whole, out, length);
}
