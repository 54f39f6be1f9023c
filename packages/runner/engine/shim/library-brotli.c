/* Brotli: one encoder or decoder per object of the class BrotliStream. The binding
   (bootstrap/zlib/brotli.js) makes Node's errors. This file runs the streams and limits the work
   of one step where the library allows a limit. The encoder does nothing until a block is full,
   and then compresses the whole block. */
#include "brotli/decode.h"
#include "brotli/encode.h"

typedef struct BrotliStream {
    BrotliEncoderState *encoder;
    BrotliDecoderState *decoder;
    BrotliEncoderPreparedDictionary *prepared;
    uint8_t *dictionary;    /* encoder and decoder read the dictionary until they are freed */
    /* the lowest qualities make a block of each piece of input, so the input must arrive whole */
    bool whole;
} BrotliStream;

#define BROTLI_SLICE (256u << 10)

static JSClassID brotli_class;

static void *brotli_alloc(void *opaque, size_t size)
{
    return malloc(size);
}

static void brotli_free(void *opaque, void *address)
{
    free(address);
}

static void brotli_end(BrotliStream *s)
{
    if (s->encoder)
        BrotliEncoderDestroyInstance(s->encoder);
    if (s->decoder)
        BrotliDecoderDestroyInstance(s->decoder);
    if (s->prepared)
        BrotliEncoderDestroyPreparedDictionary(s->prepared);
    free(s->dictionary);
    memset(s, 0, sizeof(*s));
}

static void brotli_finalize(JSRuntime *rt, JSValueConst value)
{
    BrotliStream *s = JS_GetOpaque(value, brotli_class);
    if (s) {
        brotli_end(s);
        free(s);
    }
}

static const JSClassDef brotli_class_def = { "BrotliStream", .finalizer = brotli_finalize };

static void brotli_prepare(JSContext *ctx)
{
    JS_NewClassID(JS_GetRuntime(ctx), &brotli_class);
    JS_NewClass(JS_GetRuntime(ctx), brotli_class, &brotli_class_def);
}

/* brotliNew(): returns an object without a stream */
LIBRARY_NATIVE(brotli_new)
{
    BrotliStream *s = calloc(1, sizeof(*s));
    JSValue object = s ? JS_NewObjectClass(ctx, brotli_class) : JS_ThrowOutOfMemory(ctx);
    if (JS_IsException(object)) {
        free(s);
        return object;
    }
    JS_SetOpaque(object, s);
    return object;
}

/* brotliInit(stream, encodes): resets the stream. Returns false if memory is exhausted. */
LIBRARY_NATIVE(brotli_init)
{
    BrotliStream *s = JS_GetOpaque2(ctx, argv[0], brotli_class);
    if (!s)
        return JS_EXCEPTION;
    brotli_end(s);
    if (JS_ToBool(ctx, argv[1]))
        s->encoder = BrotliEncoderCreateInstance(brotli_alloc, brotli_free, NULL);
    else
        s->decoder = BrotliDecoderCreateInstance(brotli_alloc, brotli_free, NULL);
    return JS_NewBool(ctx, s->encoder || s->decoder);
}

/* brotliParameter(stream, key, value): returns whether the library accepts the value */
LIBRARY_NATIVE(brotli_parameter)
{
    BrotliStream *s = JS_GetOpaque2(ctx, argv[0], brotli_class);
    uint32_t key, value;
    if (!s || JS_ToUint32(ctx, &key, argv[1]) || JS_ToUint32(ctx, &value, argv[2]))
        return JS_EXCEPTION;
    if (key == BROTLI_PARAM_QUALITY)
        s->whole = value < 2;
    return JS_NewBool(ctx, s->encoder   ? BrotliEncoderSetParameter(s->encoder, key, value)
                           : s->decoder ? BrotliDecoderSetParameter(s->decoder, key, value) : false);
}

/* brotliDictionary(stream, bytes): returns 0, 1 if preparing failed, or 2 if attaching failed */
LIBRARY_NATIVE(brotli_dictionary)
{
    BrotliStream *s = JS_GetOpaque2(ctx, argv[0], brotli_class);
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[1], &len) : NULL;
    int problem = 0;
    if (!bytes)
        return JS_EXCEPTION;
    free(s->dictionary);
    if (!(s->dictionary = malloc(len ? len : 1)))
        return JS_ThrowOutOfMemory(ctx);
    memcpy(s->dictionary, bytes, len);
    if (s->encoder) {
        s->prepared = BrotliEncoderPrepareDictionary(BROTLI_SHARED_DICTIONARY_RAW, len, s->dictionary, BROTLI_MAX_QUALITY,
                                                     brotli_alloc, brotli_free, NULL);
        problem = !s->prepared ? 1 : !BrotliEncoderAttachPreparedDictionary(s->encoder, s->prepared) ? 2 : 0;
    } else if (!s->decoder || !BrotliDecoderAttachDictionary(s->decoder, BROTLI_SHARED_DICTIONARY_RAW, len, s->dictionary)) {
        problem = 2;
    }
    return JS_NewInt32(ctx, problem);
}

/* brotliRun(stream, input, output, operation, left): sets left[0] and left[1] to the numbers of
   unused bytes of output and input. An encoder returns 0 for a failure. A decoder returns 0 for
   a failure, 1 at the end, 2 for more input, 3 for more output. */
LIBRARY_NATIVE(brotli_run)
{
    BrotliStream *s = JS_GetOpaque2(ctx, argv[0], brotli_class);
    int32_t operation;
    size_t in_len, out_len, left_len;
    uint8_t *in, *out, *left;
    int result = 0;

    if (!s || JS_ToInt32(ctx, &operation, argv[3]) || !(in = library_bytes(ctx, argv[1], &in_len)) ||
        !(out = library_bytes(ctx, argv[2], &out_len)) || !(left = library_bytes(ctx, argv[4], &left_len)))
        return JS_EXCEPTION;
    if (left_len < 8)
        return JS_ThrowRangeError(ctx, "brotliRun: left is too short");
    const uint8_t *next_in = in;
    for (;;) {
        size_t in_slice = s->whole || in_len < BROTLI_SLICE ? in_len : BROTLI_SLICE,
               out_slice = out_len < BROTLI_SLICE ? out_len : BROTLI_SLICE;
        size_t in_left = in_slice, out_left = out_slice;
        if (s->encoder)
            result = BrotliEncoderCompressStream(s->encoder,
                                                 in_slice < in_len ? BROTLI_OPERATION_PROCESS : (BrotliEncoderOperation)operation,
                                                 &in_left, &next_in, &out_left, &out, NULL);
        else
            result = s->decoder ? (int)BrotliDecoderDecompressStream(s->decoder, &in_left, &next_in, &out_left, &out, NULL) : 0;
        in_len -= in_slice - in_left;
        out_len -= out_slice - out_left;
        if (host_poll() || !result || !out_len)
            break; /* stopped: the engine's own poll unwinds */
        bool moved = in_left != in_slice || out_left != out_slice;
        if (s->encoder ? !moved || (!in_len && !BrotliEncoderHasMoreOutput(s->encoder))
            : result == BROTLI_DECODER_RESULT_SUCCESS || !moved)
            break;
        if (!s->encoder && result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && !in_len)
            break;
    }
    uint32_t rest[2] = { out_len, in_len };
    memcpy(left, rest, sizeof(rest));
    return JS_NewInt32(ctx, result);
}

/* brotliError(stream): returns a decoder's [code, name], or undefined for an encoder */
LIBRARY_NATIVE(brotli_error)
{
    BrotliStream *s = JS_GetOpaque2(ctx, argv[0], brotli_class);
    if (!s || !s->decoder)
        return s ? JS_UNDEFINED : JS_EXCEPTION;
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(s->decoder);
    JSValue array = JS_NewArray(ctx);
    if (JS_IsException(array))
        return array;
    JS_DefinePropertyValueUint32(ctx, array, 0, JS_NewInt32(ctx, code), JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, array, 1, JS_NewString(ctx, BrotliDecoderErrorString(code)), JS_PROP_C_W_E);
    return array;
}

/* brotliEnd(stream): frees the stream's memory */
LIBRARY_NATIVE(brotli_close)
{
    BrotliStream *s = JS_GetOpaque2(ctx, argv[0], brotli_class);
    if (!s)
        return JS_EXCEPTION;
    brotli_end(s);
    return JS_UNDEFINED;
}

static const LibraryNative brotli_natives[] = {
    { "brotliNew", brotli_new, 0 },         { "brotliInit", brotli_init, 2 }, { "brotliParameter", brotli_parameter, 3 },
    { "brotliDictionary", brotli_dictionary, 2 }, { "brotliRun", brotli_run, 5 },   { "brotliError", brotli_error, 1 },
    { "brotliEnd", brotli_close, 1 },
};
