/* Conversions of addresses: libc's header, with Linux's numbers of families (sys/socket.h). */
#ifndef COLDFRAME_PYTHON_ARPA_INET_H
#define COLDFRAME_PYTHON_ARPA_INET_H
#include <sys/socket.h>
#include_next <arpa/inet.h>

#define inet_pton cf_inet_pton
#define inet_ntop cf_inet_ntop

int inet_pton(int family, const char *text, void *address);
const char *inet_ntop(int family, const void *address, char *text, socklen_t length);

#endif
