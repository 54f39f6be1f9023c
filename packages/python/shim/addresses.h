/* Addresses of sockets as texts, which the kernel's calls use. */
#ifndef COLDFRAME_PYTHON_ADDRESSES_H
#define COLDFRAME_PYTHON_ADDRESSES_H
#include <stdint.h>
#include <sys/socket.h>

/* The longest text of an address: a path of a Unix socket. */
enum { CF_ADDRESS_TEXT = 108 };

/* The text of an address, and its port. A Unix socket has no port. A text may contain NUL, because
   the name of a Unix socket without a file begins with NUL. */
typedef struct CfAddress {
    char text[CF_ADDRESS_TEXT];
    uint32_t length;
    uint16_t port;
} CfAddress;

/* Converts an address to its text. Returns 0, or -1 with errno set. */
int cf_address_text(const struct sockaddr *address, socklen_t length, CfAddress *out);

/* Converts the bytes that the kernel's call `name` writes to an address: u16 family, u16 port, the
   text. `*length` is the space before the call and the whole length after. Returns 0, or -1 with
   errno set. */
int cf_address_of_name(const unsigned char *name, int64_t name_length, struct sockaddr *out, socklen_t *length);

/* Makes an address of a text of an IP address. Returns its length, or 0 for another text. */
socklen_t cf_ip_address(const char *text, uint16_t port, struct sockaddr_storage *out);

#endif
