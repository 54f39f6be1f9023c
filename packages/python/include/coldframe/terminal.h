/* The size of a terminal's window, for Modules/posixmodule.c. shim/files.c defines the function. */
#ifndef COLDFRAME_TERMINAL_H
#define COLDFRAME_TERMINAL_H
#include <sys/ioctl.h>

struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

int cf_window_size(int fd, struct winsize *size);

/* posixmodule.c has no other request. */
#ifndef TIOCGWINSZ
#define TIOCGWINSZ 0x5413
#endif
#define ioctl(fd, request, size) cf_window_size(fd, size)

#endif
