/* zlib: one stream per object of the class ZlibStream. The binding (bootstrap/zlib/stream.js)
   has Node's modes and errors. This file runs the streams and divides the work into slices, so
   that the sidecar can stop a guest between two slices. */
#include "zlib.h"

enum { ZLIB_NONE, ZLIB_DEFLATE, ZLIB_INFLATE };

typedef struct ZlibStream {
    z_stream z;
    int kind;
} ZlibStream;

/* The maximum number of bytes of input and of output in one call of the library. */
#define ZLIB_SLICE (256u << 10)

static JSClassID zlib_class;

static void *zlib_alloc(void *opaque, uInt items, uInt size)
{
    return calloc(items, size);
}

static void zlib_free(void *opaque, void *address)
{
    free(address);
}

static void zlib_end(ZlibStream *s)
{
    if (s->kind == ZLIB_DEFLATE)
        deflateEnd(&s->z);
    else if (s->kind == ZLIB_INFLATE)
        inflateEnd(&s->z);
    s->kind = ZLIB_NONE;
}

static void zlib_finalize(JSRuntime *rt, JSValueConst value)
{
    ZlibStream *s = JS_GetOpaque(value, zlib_class);
    if (s) {
        zlib_end(s);
        free(s);
    }
}

static const JSClassDef zlib_class_def = { "ZlibStream", .finalizer = zlib_finalize };

static void zlib_prepare(JSContext *ctx)
{
    JS_NewClassID(JS_GetRuntime(ctx), &zlib_class);
    JS_NewClass(JS_GetRuntime(ctx), zlib_class, &zlib_class_def);
}

/* zlibNew(): returns an object without a stream */
LIBRARY_NATIVE(zlib_new)
{
    ZlibStream *s = calloc(1, sizeof(*s));
    JSValue object = s ? JS_NewObjectClass(ctx, zlib_class) : JS_ThrowOutOfMemory(ctx);
    if (JS_IsException(object)) {
        free(s);
        return object;
    }
    s->z.zalloc = zlib_alloc;
    s->z.zfree = zlib_free;
    JS_SetOpaque(object, s);
    return object;
}

/* Reads integer arguments from argv[1] on. */
static int zlib_integers(JSContext *ctx, JSValueConst *argv, int count, int32_t *out)
{
    for (int i = 0; i < count; i++)
        if (JS_ToInt32(ctx, &out[i], argv[i + 1]))
            return -1;
    return 0;
}

/* zlibInit(stream, deflate, level, windowBits, memLevel, strategy): returns zlib's result */
LIBRARY_NATIVE(zlib_init)
{
    ZlibStream *s = JS_GetOpaque2(ctx, argv[0], zlib_class);
    int32_t a[5];
    int result;

    if (!s || zlib_integers(ctx, argv, 5, a))
        return JS_EXCEPTION;
    zlib_end(s);
    if (a[0])
        result = deflateInit2(&s->z, a[1], Z_DEFLATED, a[2], a[3], a[4]);
    else
        result = inflateInit2(&s->z, a[2]);
    if (result == Z_OK)
        s->kind = a[0] ? ZLIB_DEFLATE : ZLIB_INFLATE;
    return JS_NewInt32(ctx, result);
}

/* zlibReset(stream): begins a new stream with equal settings. Returns zlib's result. */
LIBRARY_NATIVE(zlib_reset)
{
    ZlibStream *s = JS_GetOpaque2(ctx, argv[0], zlib_class);
    if (!s)
        return JS_EXCEPTION;
    return JS_NewInt32(ctx, s->kind == ZLIB_DEFLATE ? deflateReset(&s->z)
                            : s->kind == ZLIB_INFLATE ? inflateReset(&s->z) : Z_STREAM_ERROR);
}

/* zlibParams(stream, level, strategy): returns zlib's result */
LIBRARY_NATIVE(zlib_params)
{
    ZlibStream *s = JS_GetOpaque2(ctx, argv[0], zlib_class);
    int32_t a[2];
    /* A change of parameters flushes pending output. Without space for output the flush is
       postponed, but the library requires a valid pointer. */
    static uint8_t nowhere;
    if (!s || zlib_integers(ctx, argv, 2, a))
        return JS_EXCEPTION;
    s->z.next_in = s->z.next_out = &nowhere;
    s->z.avail_in = s->z.avail_out = 0;
    return JS_NewInt32(ctx, s->kind == ZLIB_DEFLATE ? deflateParams(&s->z, a[0], a[1]) : Z_STREAM_ERROR);
}

/* zlibDictionary(stream, bytes): returns zlib's result */
LIBRARY_NATIVE(zlib_dictionary)
{
    ZlibStream *s = JS_GetOpaque2(ctx, argv[0], zlib_class);
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[1], &len) : NULL;
    if (!bytes)
        return JS_EXCEPTION;
    int result = s->kind == ZLIB_DEFLATE ? deflateSetDictionary(&s->z, bytes, len)
               : s->kind == ZLIB_INFLATE ? inflateSetDictionary(&s->z, bytes, len) : Z_STREAM_ERROR;
    return JS_NewInt32(ctx, result);
}

/* zlibRun(stream, input, output, flush, left): sets left[0] and left[1] to the numbers of unused
   bytes of output and input. Returns zlib's result. */
LIBRARY_NATIVE(zlib_run)
{
    ZlibStream *s = JS_GetOpaque2(ctx, argv[0], zlib_class);
    int32_t flush;
    size_t in_len, out_len, left_len;
    uint8_t *in, *out, *left;
    int result = Z_STREAM_ERROR;

    if (!s || JS_ToInt32(ctx, &flush, argv[3]) || !(in = library_bytes(ctx, argv[1], &in_len)) ||
        !(out = library_bytes(ctx, argv[2], &out_len)) || !(left = library_bytes(ctx, argv[4], &left_len)))
        return JS_EXCEPTION;
    if (left_len < 8)
        return JS_ThrowRangeError(ctx, "zlibRun: left is too short");
    s->z.next_in = in;
    s->z.next_out = out;
    for (;;) {
        uInt in_slice = in_len < ZLIB_SLICE ? in_len : ZLIB_SLICE, out_slice = out_len < ZLIB_SLICE ? out_len : ZLIB_SLICE;
        int slice_flush = in_slice < in_len ? Z_NO_FLUSH : flush;
        s->z.avail_in = in_slice;
        s->z.avail_out = out_slice;
        result = s->kind == ZLIB_DEFLATE ? deflate(&s->z, slice_flush)
               : s->kind == ZLIB_INFLATE ? inflate(&s->z, slice_flush) : Z_STREAM_ERROR;
        in_len -= in_slice - s->z.avail_in;
        out_len -= out_slice - s->z.avail_out;
        if (host_poll())
            break; /* the engine's own poll unwinds */
        if (result != Z_OK || (!s->z.avail_out && !out_len) || (!s->z.avail_in && !in_len && s->z.avail_out))
            break;
        if (in_slice == s->z.avail_in && out_slice == s->z.avail_out)
            break; /* no progress */
    }
    uint32_t rest[2] = { out_len, in_len };
    memcpy(left, rest, sizeof(rest));
    s->z.next_in = s->z.next_out = NULL;
    return JS_NewInt32(ctx, result);
}

/* zlibMessage(stream): returns zlib's own text for the last error, or undefined */
LIBRARY_NATIVE(zlib_message)
{
    ZlibStream *s = JS_GetOpaque2(ctx, argv[0], zlib_class);
    if (!s)
        return JS_EXCEPTION;
    return s->z.msg ? JS_NewString(ctx, s->z.msg) : JS_UNDEFINED;
}

/* zlibEnd(stream): frees the stream's memory */
LIBRARY_NATIVE(zlib_close)
{
    ZlibStream *s = JS_GetOpaque2(ctx, argv[0], zlib_class);
    if (!s)
        return JS_EXCEPTION;
    zlib_end(s);
    return JS_UNDEFINED;
}

/* crc32(bytes, value): returns the CRC-32 of `bytes`, continued from `value` */
LIBRARY_NATIVE(zlib_crc32)
{
    size_t len;
    uint32_t value;
    uint8_t *bytes;
    if (JS_ToUint32(ctx, &value, argv[1]) || !(bytes = library_bytes(ctx, argv[0], &len)))
        return JS_EXCEPTION;
    for (size_t at = 0; at < len; at += 4 * ZLIB_SLICE) {
        size_t n = len - at < 4 * ZLIB_SLICE ? len - at : 4 * ZLIB_SLICE;
        value = crc32(value, bytes + at, n);
        if (host_poll())
            break;
    }
    return JS_NewUint32(ctx, value);
}

static const LibraryNative zlib_natives[] = {
    { "zlibNew", zlib_new, 0 },       { "zlibInit", zlib_init, 6 },       { "zlibReset", zlib_reset, 1 },
    { "zlibParams", zlib_params, 3 }, { "zlibDictionary", zlib_dictionary, 2 }, { "zlibRun", zlib_run, 5 },
    { "zlibMessage", zlib_message, 1 }, { "zlibEnd", zlib_close, 1 },     { "crc32", zlib_crc32, 2 },
};
