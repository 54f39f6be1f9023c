/* C libraries that do heavy work inside the guest, as natives. This unit includes only quickjs.h
   of the engine, so that a change of a library's file does not compile the engine again. Each
   library has a file of its own. This file has the code that the libraries share and the list of
   their tables of natives. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "libraries.h"
#include "host.h"

#define LIBRARY_NATIVE(name) static JSValue name(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)

typedef struct LibraryNative {
    const char *name;
    JSCFunction *function;
    int length;
} LibraryNative;

/* Returns the bytes of a Uint8Array. Returns NULL with an exception for other values. An empty
   array has an address too. */
static uint8_t *library_bytes(JSContext *ctx, JSValueConst value, size_t *len)
{
    static uint8_t nothing;
    uint8_t *bytes = JS_GetUint8Array(ctx, len, value);
    if (!bytes && !JS_HasException(ctx) && *len == 0)
        return &nothing;
    return bytes;
}

/* The operators new and delete of C++, over the guest's allocator. The C++ runtime's own
   operators would add libc's allocator and streams to the module. A failed allocation ends the
   guest, as an uncaught bad_alloc would. */
void *_Znwm(size_t size);
void *_Znwm(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory)
        host_fatal(CF_FATAL_MEMORY, "", 0);
    return memory;
}
void *_Znam(size_t size);
void *_Znam(size_t size) { return _Znwm(size); }
void _ZdlPv(void *memory);
void _ZdlPv(void *memory) { free(memory); }
void _ZdaPv(void *memory);
void _ZdaPv(void *memory) { free(memory); }
void _ZdlPvm(void *memory, size_t size);
void _ZdlPvm(void *memory, size_t size) { free(memory); }
void _ZdaPvm(void *memory, size_t size);
void _ZdaPvm(void *memory, size_t size) { free(memory); }
void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow) { return malloc(size ? size : 1); }

void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow) { return malloc(size ? size : 1); }

/* The guest's allocator aligns to 16 bytes, which is enough for the C++ code of the libraries. */
void *_ZnwmSt11align_val_t(size_t size, size_t alignment);
void *_ZnwmSt11align_val_t(size_t size, size_t alignment) { return _Znwm(size); }
void _ZdlPvSt11align_val_t(void *memory, size_t alignment);
void _ZdlPvSt11align_val_t(void *memory, size_t alignment) { free(memory); }
void _ZdlPvmSt11align_val_t(void *memory, size_t size, size_t alignment);
void _ZdlPvmSt11align_val_t(void *memory, size_t size, size_t alignment) { free(memory); }
int posix_memalign(void **out, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size) { return alignment <= 16 ? malloc(size) : NULL; }
int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = aligned_alloc(alignment, size);
    return *out ? 0 : 12; /* ENOMEM */
}

/* Ignores the functions that C++ registers for the end of a program, because a guest never runs
   such functions. */
int __cxa_atexit(void (*function)(void *), void *argument, void *object);
int __cxa_atexit(void (*function)(void *), void *argument, void *object)
{
    return 0;
}

/* The C++ runtime calls the next two functions in order to abort. Each function sends the format
   of the message to the sidecar. */
_Noreturn void _ZNSt3__222__libcpp_verbose_abortEPKcz(const char *format, ...);
void _ZNSt3__222__libcpp_verbose_abortEPKcz(const char *format, ...)
{
    host_fatal(CF_FATAL_INVARIANT, format, strlen(format));
}
_Noreturn void __abort_message(const char *format, ...);
void __abort_message(const char *format, ...)
{
    host_fatal(CF_FATAL_INVARIANT, format, strlen(format));
}
int swprintf(void *text, size_t n, const void *format, ...);
int swprintf(void *text, size_t n, const void *format, ...)
{
    return -1;
}

#include "library-ada.c"
#include "library-brotli.c"
#include "library-llhttp.c"
#include "library-merve.c"
#include "library-nghttp2.c"
#include "library-nghttp2-submit.c"
#include "library-nghttp2-state.c"
#include "library-zlib.c"
#include "library-zstd.c"

void cf_add_library_natives(JSContext *ctx, JSValue native)
{
    static const struct {
        const LibraryNative *natives;
        size_t count;
    } tables[] = {
        { brotli_natives, sizeof(brotli_natives) / sizeof(*brotli_natives) },
        { http_natives, sizeof(http_natives) / sizeof(*http_natives) },
        { http2_natives, sizeof(http2_natives) / sizeof(*http2_natives) },
        { merve_natives, sizeof(merve_natives) / sizeof(*merve_natives) },
        { url_natives, sizeof(url_natives) / sizeof(*url_natives) },
        { zlib_natives, sizeof(zlib_natives) / sizeof(*zlib_natives) },
        { zstd_natives, sizeof(zstd_natives) / sizeof(*zstd_natives) },
    };
    brotli_prepare(ctx);
    http_prepare(ctx);
    http2_prepare(ctx);
    zlib_prepare(ctx);
    zstd_prepare(ctx);
    for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
        for (size_t i = 0; i < tables[t].count; i++) {
            const LibraryNative *n = &tables[t].natives[i];
            JS_SetPropertyStr(ctx, native, n->name, JS_NewCFunction(ctx, n->function, n->name, n->length));
        }
}
