/* The address of a Unix socket, whose path WASI's libc leaves out. */
#ifndef COLDFRAME_PYTHON_SYS_UN_H
#define COLDFRAME_PYTHON_SYS_UN_H
#include <__typedef_sa_family_t.h>

struct sockaddr_un {
    sa_family_t sun_family;
    char sun_path[108];
};

#endif
