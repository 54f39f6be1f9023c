/* Zstandard: one compressor or decompressor per object of the class ZstdStream. The binding
   (bootstrap/zlib/zstd.js) makes Node's errors. This file runs the streams and keeps the output
   of a step short, so that the sidecar can stop a guest between two steps. The input is passed
   whole: a frame that begins with all of its input records the input's length. */
#include "zstd.h"
#include "zstd_errors.h"

typedef struct ZstdStream {
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
} ZstdStream;

#define ZSTD_SLICE (256u << 10)

static JSClassID zstd_class;

static void zstd_end(ZstdStream *s)
{
    ZSTD_freeCCtx(s->compressor);
    ZSTD_freeDCtx(s->decompressor);
    memset(s, 0, sizeof(*s));
}

static void zstd_finalize(JSRuntime *rt, JSValueConst value)
{
    ZstdStream *s = JS_GetOpaque(value, zstd_class);
    if (s) {
        zstd_end(s);
        free(s);
    }
}

static const JSClassDef zstd_class_def = { "ZstdStream", .finalizer = zstd_finalize };

static void zstd_prepare(JSContext *ctx)
{
    JS_NewClassID(JS_GetRuntime(ctx), &zstd_class);
    JS_NewClass(JS_GetRuntime(ctx), zstd_class, &zstd_class_def);
}

/* zstdNew(): returns an object without a stream */
LIBRARY_NATIVE(zstd_new)
{
    ZstdStream *s = calloc(1, sizeof(*s));
    JSValue object = s ? JS_NewObjectClass(ctx, zstd_class) : JS_ThrowOutOfMemory(ctx);
    if (JS_IsException(object)) {
        free(s);
        return object;
    }
    JS_SetOpaque(object, s);
    return object;
}

/* zstdInit(stream, compresses): resets the stream. Returns false if memory is exhausted. */
LIBRARY_NATIVE(zstd_init)
{
    ZstdStream *s = JS_GetOpaque2(ctx, argv[0], zstd_class);
    if (!s)
        return JS_EXCEPTION;
    zstd_end(s);
    if (JS_ToBool(ctx, argv[1]))
        s->compressor = ZSTD_createCCtx();
    else
        s->decompressor = ZSTD_createDCtx();
    return JS_NewBool(ctx, s->compressor || s->decompressor);
}

/* zstdParameter(stream, key, value): returns whether the library accepts the value */
LIBRARY_NATIVE(zstd_parameter)
{
    ZstdStream *s = JS_GetOpaque2(ctx, argv[0], zstd_class);
    int32_t key, value;
    if (!s || JS_ToInt32(ctx, &key, argv[1]) || JS_ToInt32(ctx, &value, argv[2]))
        return JS_EXCEPTION;
    if (!s->compressor && !s->decompressor)
        return JS_FALSE;
    return JS_NewBool(ctx, !ZSTD_isError(s->compressor ? ZSTD_CCtx_setParameter(s->compressor, key, value)
                                                       : ZSTD_DCtx_setParameter(s->decompressor, key, value)));
}

/* zstdPledge(stream, size): sets the length of the whole input. Returns whether the library
   accepts the length. */
LIBRARY_NATIVE(zstd_pledge)
{
    ZstdStream *s = JS_GetOpaque2(ctx, argv[0], zstd_class);
    int64_t size;
    if (!s || JS_ToInt64(ctx, &size, argv[1]))
        return JS_EXCEPTION;
    return JS_NewBool(ctx, s->compressor && !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(s->compressor, size)));
}

/* zstdDictionary(stream, bytes): returns whether the library accepts the dictionary */
LIBRARY_NATIVE(zstd_dictionary)
{
    ZstdStream *s = JS_GetOpaque2(ctx, argv[0], zstd_class);
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[1], &len) : NULL;
    if (!bytes)
        return JS_EXCEPTION;
    if (!s->compressor && !s->decompressor)
        return JS_FALSE;
    return JS_NewBool(ctx, !ZSTD_isError(s->compressor ? ZSTD_CCtx_loadDictionary(s->compressor, bytes, len)
                                                       : ZSTD_DCtx_loadDictionary(s->decompressor, bytes, len)));
}

/* Runs one step of a ZstdStream and returns the library's result. */
static size_t zstd_step(ZstdStream *s, ZSTD_outBuffer *out, ZSTD_inBuffer *in, ZSTD_EndDirective directive)
{
    return s->compressor ? ZSTD_compressStream2(s->compressor, out, in, directive)
                         : ZSTD_decompressStream(s->decompressor, out, in);
}

/* zstdRun(stream, input, output, directive, left) sets left[0] and left[1] to the numbers of
   unused bytes of output and input. The native sets left[2] to 1 while a frame is unfinished,
   else to 0. Returns the library's error number, or 0. */
LIBRARY_NATIVE(zstd_run)
{
    ZstdStream *s = JS_GetOpaque2(ctx, argv[0], zstd_class);
    int32_t directive;
    size_t in_len, out_len, left_len, result = 0;
    uint8_t *input, *output, *left;

    if (!s || JS_ToInt32(ctx, &directive, argv[3]) || !(input = library_bytes(ctx, argv[1], &in_len)) ||
        !(output = library_bytes(ctx, argv[2], &out_len)) || !(left = library_bytes(ctx, argv[4], &left_len)))
        return JS_EXCEPTION;
    if (left_len < 12)
        return JS_ThrowRangeError(ctx, "zstdRun: left is too short");
    if (!s->compressor && !s->decompressor)
        return JS_NewInt32(ctx, ZSTD_error_init_missing);
    ZSTD_inBuffer in = { input, in_len, 0 };
    ZSTD_outBuffer out = { output, 0, 0 };
    for (;;) {
        out.size = out_len - out.pos < ZSTD_SLICE ? out_len : out.pos + ZSTD_SLICE;
        size_t in_before = in.pos, out_before = out.pos;
        result = zstd_step(s, &out, &in, (ZSTD_EndDirective)directive);
        if (ZSTD_isError(result) || host_poll())
            break; /* stopped: the engine's own poll unwinds */
        bool done = s->compressor ? directive == ZSTD_e_continue || result == 0 : true;
        if (s->decompressor && result == 0)
            break; /* the end of a frame; Node does not look for another frame */
        if (out.pos == out_len || (in.pos == in_len && done && out.pos < out.size))
            break;
        if (in.pos == in_before && out.pos == out_before)
            break; /* no progress */
    }
    uint32_t rest[3] = { out_len - out.pos, in_len - in.pos, result != 0 };
    memcpy(left, rest, sizeof(rest));
    return JS_NewInt32(ctx, ZSTD_isError(result) ? ZSTD_getErrorCode(result) : 0);
}

/* zstdMessage(error): returns the library's text for an error number */
LIBRARY_NATIVE(zstd_message)
{
    int32_t error;
    if (JS_ToInt32(ctx, &error, argv[0]))
        return JS_EXCEPTION;
    return JS_NewString(ctx, ZSTD_getErrorString((ZSTD_ErrorCode)error));
}

/* zstdEnd(stream): frees the stream's memory */
LIBRARY_NATIVE(zstd_close)
{
    ZstdStream *s = JS_GetOpaque2(ctx, argv[0], zstd_class);
    if (!s)
        return JS_EXCEPTION;
    zstd_end(s);
    return JS_UNDEFINED;
}

static const LibraryNative zstd_natives[] = {
    { "zstdNew", zstd_new, 0 },       { "zstdInit", zstd_init, 2 },         { "zstdParameter", zstd_parameter, 3 },
    { "zstdPledge", zstd_pledge, 2 }, { "zstdDictionary", zstd_dictionary, 2 }, { "zstdRun", zstd_run, 5 },
    { "zstdMessage", zstd_message, 1 }, { "zstdEnd", zstd_close, 1 },
};
