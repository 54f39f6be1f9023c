/* The conversion of error numbers, for units of CPython. Next: shim/errors.c. */
#ifndef COLDFRAME_ERRORS_H
#define COLDFRAME_ERRORS_H

/* Returns the Linux number of one of libc's numbers. */
int cf_linux_errno(int libc_number);
/* Returns glibc's text for a Linux number, or NULL. */
const char *cf_error_text(int linux_number);

#endif
