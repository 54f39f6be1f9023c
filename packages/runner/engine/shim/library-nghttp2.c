/* nghttp2, the library below Node's `http2`. */
#include <nghttp2/nghttp2.h>

/* h2ErrorString(code): returns nghttp2's text for a negative error code */
LIBRARY_NATIVE(h2_error_string)
{
    int32_t code;
    if (JS_ToInt32(ctx, &code, argv[0]))
        return JS_EXCEPTION;
    return JS_NewString(ctx, nghttp2_strerror(code));
}
static const LibraryNative http2_natives[] = { { "h2ErrorString", h2_error_string, 1 } };
