/* Converts between the error numbers of Linux, which the kernel and programs of Python have, and
   the numbers of WASI's libc. A number of Linux that WASI does not have is stored in `errno` with
   the bit FOREIGN. */
#include <errno.h>

#include "shim.h"

static const unsigned char numbers[] = {
    [1] = EPERM, [2] = ENOENT, [3] = ESRCH, [4] = EINTR, [5] = EIO, [6] = ENXIO, [7] = E2BIG, [8] = ENOEXEC,
    [9] = EBADF, [10] = ECHILD, [11] = EAGAIN, [12] = ENOMEM, [13] = EACCES, [14] = EFAULT, [16] = EBUSY,
    [17] = EEXIST, [18] = EXDEV, [19] = ENODEV, [20] = ENOTDIR, [21] = EISDIR, [22] = EINVAL, [23] = ENFILE,
    [24] = EMFILE, [25] = ENOTTY, [26] = ETXTBSY, [27] = EFBIG, [28] = ENOSPC, [29] = ESPIPE, [30] = EROFS,
    [31] = EMLINK, [32] = EPIPE, [33] = EDOM, [34] = ERANGE, [35] = EDEADLK, [36] = ENAMETOOLONG, [37] = ENOLCK,
    [38] = ENOSYS, [39] = ENOTEMPTY, [40] = ELOOP, [71] = EPROTO, [75] = EOVERFLOW, [84] = EILSEQ,
    [88] = ENOTSOCK, [89] = EDESTADDRREQ, [90] = EMSGSIZE, [91] = EPROTOTYPE, [92] = ENOPROTOOPT,
    [93] = EPROTONOSUPPORT, [95] = EOPNOTSUPP, [97] = EAFNOSUPPORT, [98] = EADDRINUSE, [99] = EADDRNOTAVAIL,
    [100] = ENETDOWN, [101] = ENETUNREACH, [102] = ENETRESET, [103] = ECONNABORTED, [104] = ECONNRESET,
    [105] = ENOBUFS, [106] = EISCONN, [107] = ENOTCONN, [110] = ETIMEDOUT, [111] = ECONNREFUSED,
    [113] = EHOSTUNREACH, [114] = EALREADY, [115] = EINPROGRESS, [116] = ESTALE, [122] = EDQUOT,
    [125] = ECANCELED,
};

static const char *const texts[] = {
#include "error-texts.h"
};

enum { FOREIGN = 0x1000, LINUX_EPERM = 1 };

int cf_errno(int64_t linux_number)
{
    if (linux_number <= 0 || linux_number >= FOREIGN)
        return EIO;
    if (linux_number < (int64_t)sizeof(numbers) && numbers[linux_number])
        return numbers[linux_number];
    return FOREIGN | (int)linux_number;
}

int cf_linux_errno(int libc_number)
{
    if (libc_number & FOREIGN)
        return libc_number & ~FOREIGN;
    if (libc_number == ENOTCAPABLE)
        return LINUX_EPERM;
    /* Numbers of Linux that libc does not have are 0 in the table. */
    if (libc_number == 0)
        return 0;
    for (size_t i = 1; i < sizeof(numbers); i++)
        if (numbers[i] == libc_number)
            return (int)i;
    return libc_number;
}

const char *cf_error_text(int linux_number)
{
    return linux_number > 0 && linux_number < (int)Py_ARRAY_LENGTH(texts) ? texts[linux_number] : NULL;
}

int64_t cf_result(int64_t result)
{
    if (result >= 0)
        return result;
    errno = cf_errno(-result);
    return -1;
}
