/* Sockets: libc's header, with the functions that WASI's libc leaves out. shim/sockets.c has the
   functions. The numbers are Linux's, because Python programs see them. */
#ifndef COLDFRAME_PYTHON_SYS_SOCKET_H
#define COLDFRAME_PYTHON_SYS_SOCKET_H
#include_next <sys/socket.h>

#undef AF_UNIX
#undef AF_INET
#undef AF_INET6
#undef PF_INET
#undef PF_INET6
#undef SOCK_STREAM
#undef SOCK_DGRAM
#undef SOCK_NONBLOCK
#undef SOCK_CLOEXEC
#undef SOL_SOCKET
#undef SO_TYPE
#undef SHUT_RD
#undef SHUT_WR
#undef SHUT_RDWR
#undef MSG_PEEK
#undef MSG_WAITALL
#undef MSG_TRUNC

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define PF_INET AF_INET
#define PF_INET6 AF_INET6
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_NONBLOCK 0x800
#define SOCK_CLOEXEC 0x80000
#define SOMAXCONN 4096
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2

#define SOL_SOCKET 1
#define SO_REUSEADDR 2
#define SO_TYPE 3
#define SO_ERROR 4
#define SO_DONTROUTE 5
#define SO_BROADCAST 6
#define SO_SNDBUF 7
#define SO_RCVBUF 8
#define SO_KEEPALIVE 9
#define SO_OOBINLINE 10
#define SO_LINGER 13
#define SO_REUSEPORT 15
#define SO_RCVLOWAT 18
#define SO_RCVTIMEO 20
#define SO_SNDTIMEO 21
#define SO_ACCEPTCONN 30
#define SO_PROTOCOL 38
#define SO_DOMAIN 39

#define MSG_OOB 0x01
#define MSG_PEEK 0x02
#define MSG_TRUNC 0x20
#define MSG_DONTWAIT 0x40
#define MSG_WAITALL 0x100
#define MSG_NOSIGNAL 0x4000

#define IPV6_V6ONLY 26

/* The functions have their own names in the module: libc's functions of these names use libc's
   numbers of families, types and flags. */
#define socket cf_socket
#define socketpair cf_socketpair
#define bind cf_bind
#define listen cf_listen
#define accept cf_accept
#define accept4 cf_accept4
#define connect cf_connect
#define shutdown cf_shutdown
#define send cf_send
#define recv cf_recv
#define sendto cf_sendto
#define recvfrom cf_recvfrom
#define getsockname cf_getsockname
#define getpeername cf_getpeername
#define getsockopt cf_getsockopt
#define setsockopt cf_setsockopt

int socket(int family, int type, int protocol);
int socketpair(int family, int type, int protocol, int pair[2]);
int bind(int fd, const struct sockaddr *address, socklen_t length);
int listen(int fd, int backlog);
int accept(int fd, struct sockaddr *address, socklen_t *length);
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int connect(int fd, const struct sockaddr *address, socklen_t length);
int shutdown(int fd, int how);
ssize_t send(int fd, const void *bytes, size_t length, int flags);
ssize_t recv(int fd, void *buffer, size_t length, int flags);
ssize_t sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t to_length);
ssize_t recvfrom(int fd, void *buffer, size_t length, int flags, struct sockaddr *from, socklen_t *from_length);
int getsockname(int fd, struct sockaddr *address, socklen_t *length);
int getpeername(int fd, struct sockaddr *address, socklen_t *length);
int getsockopt(int fd, int level, int option, void *value, socklen_t *length);
int setsockopt(int fd, int level, int option, const void *value, socklen_t length);

#endif
