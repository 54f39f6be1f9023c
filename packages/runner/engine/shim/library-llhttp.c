/* llhttp, Node's HTTP parser, as build/wasm-to-c.mjs translates it from WebAssembly. The parsers
   and all memory that they read are in an array of their own. This file feeds input and collects
   the results of the callbacks. A handler in JavaScript is called when a message begins and
   ends, and for the complete headers, pieces of the body, and trailers. */

enum { LLHTTP_MODULE_BYTES = 131072, LLHTTP_INPUT_BYTES = 65536, LLHTTP_DEPTH = 3, LLHTTP_REASON_BYTES = 64 };

/* The module's memory, then an input for each of the parsers that can run at once, one inside a
   callback of another. The text of the last reason of http_refuse() follows. */
static uint8_t llhttp_memory[LLHTTP_MODULE_BYTES + LLHTTP_DEPTH * LLHTTP_INPUT_BYTES + LLHTTP_REASON_BYTES];

#include "llhttp.c"

_Static_assert(LLHTTP_PAGES * 65536 == LLHTTP_MODULE_BYTES, "the module's memory has another size");

enum { LLHTTP_OK = 0, LLHTTP_PAUSED = 21, LLHTTP_USER = 24, LLHTTP_PAUSED_UPGRADE = 22 };
enum { EVENT_BEGIN, EVENT_HEADERS, EVENT_HEADERS_COMPLETE, EVENT_BODY, EVENT_COMPLETE, EVENT_STATUS, EVENT_FIELD, EVENT_VALUE };

typedef struct HttpText {
    char *bytes;
    size_t len, capacity;
} HttpText;

typedef struct HttpParser {
    u32 parser;             /* address in the module's memory */
    u32 max_header, header_bytes;
    HttpText url, status, field, value;
    bool in_value;
    bool raw;               /* every event goes to the handler; nothing is collected */
    JSValue headers;
    uint32_t header_count;
} HttpParser;

/* The parser that runs now. Parsers can be nested: a callback may write to a socket whose other end
   is parsed at once. */
static struct {
    JSContext *ctx;
    HttpParser *p;
    JSValueConst handler;
    u32 input;
    bool failed;
} http_now;
static int http_depth;

static JSClassID http_class;

static void http_clear(HttpParser *p)
{
    p->url.len = p->status.len = p->field.len = p->value.len = 0;
    p->in_value = false;
}

static void http_finalize(JSRuntime *rt, JSValueConst value)
{
    HttpParser *p = JS_GetOpaque(value, http_class);
    if (!p)
        return;
    if (p->parser)
        llhttp_free_(p->parser);
    free(p->url.bytes);
    free(p->status.bytes);
    free(p->field.bytes);
    free(p->value.bytes);
    JS_FreeValueRT(rt, p->headers);
    free(p);
}

static void http_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    HttpParser *p = JS_GetOpaque(value, http_class);
    if (p)
        JS_MarkValue(rt, p->headers, mark);
}

static const JSClassDef http_class_def = { "HttpParserState", .finalizer = http_finalize, .gc_mark = http_mark };

static void http_prepare(JSContext *ctx)
{
    JS_NewClassID(JS_GetRuntime(ctx), &http_class);
    JS_NewClass(JS_GetRuntime(ctx), http_class, &http_class_def);
    llhttp_prepare_memory();
    llhttp__initialize_();
}

static bool http_append(HttpText *text, const uint8_t *bytes, size_t len)
{
    if (text->len + len > text->capacity) {
        size_t capacity = (text->len + len) * 2;
        char *larger = realloc(text->bytes, capacity);
        if (!larger)
            return false;
        text->bytes = larger;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    return true;
}

/* Converts each byte to the character with that number, as Node does. */
static JSValue http_latin1(JSContext *ctx, const char *bytes, size_t len)
{
    char *wide, *to;
    JSValue string;
    size_t high = 0;

    for (size_t i = 0; i < len; i++)
        high += (uint8_t)bytes[i] >> 7;
    if (!high)
        return JS_NewStringLen(ctx, bytes, len);
    if (!(to = wide = malloc(len + high)))
        return JS_ThrowOutOfMemory(ctx);
    for (size_t i = 0; i < len; i++) {
        uint8_t c = bytes[i];
        if (c >> 7) {
            *to++ = 0xc0 | c >> 6;
            c = 0x80 | (c & 0x3f);
        }
        *to++ = c;
    }
    string = JS_NewStringLen(ctx, wide, len + high);
    free(wide);
    return string;
}

/* Appends the finished field and value to the list of headers. */
static int http_flush_pair(JSContext *ctx, HttpParser *p)
{
    if (!p->field.len && !p->in_value)
        return 0;
    while (p->value.len && (p->value.bytes[p->value.len - 1] == ' ' || p->value.bytes[p->value.len - 1] == '\t'))
        p->value.len--;
    if (JS_IsUndefined(p->headers))
        p->headers = JS_NewArray(ctx);
    if (JS_DefinePropertyValueUint32(ctx, p->headers, p->header_count,
                                     http_latin1(ctx, p->field.bytes, p->field.len), JS_PROP_C_W_E) < 0 ||
        JS_DefinePropertyValueUint32(ctx, p->headers, p->header_count + 1,
                                     http_latin1(ctx, p->value.bytes, p->value.len), JS_PROP_C_W_E) < 0)
        return -1;
    p->header_count += 2;
    p->field.len = p->value.len = 0;
    p->in_value = false;
    return 0;
}

/* Returns the list of headers and passes its reference to the caller. */
static JSValue http_take_headers(JSContext *ctx, HttpParser *p)
{
    JSValue headers = JS_IsUndefined(p->headers) ? JS_NewArray(ctx) : p->headers;
    p->headers = JS_UNDEFINED;
    p->header_count = 0;
    return headers;
}

/* Stops the parser with `reason`. The parser keeps the pointer until the reason is read. */
static u32 http_refuse(u32 parser, const char *reason)
{
    u32 place = LLHTTP_MODULE_BYTES + LLHTTP_DEPTH * LLHTTP_INPUT_BYTES;
    memcpy(llhttp_memory + place, reason, strlen(reason) + 1);
    llhttp_set_error_reason_(parser, place);
    return LLHTTP_USER;
}

/* Calls the handler and frees the references to the values. Returns the handler's number, or -1
   after an exception, which stops the parser. */
static int32_t http_call(int kind, JSValue a, JSValue b, JSValue c)
{
    JSContext *ctx = http_now.ctx;
    JSValue args[4] = { JS_NewInt32(ctx, kind), a, b, c }, result;
    int32_t number = 0;

    result = JS_Call(ctx, http_now.handler, JS_UNDEFINED, 4, (JSValueConst *)args);
    for (int i = 1; i < 4; i++)
        JS_FreeValue(ctx, args[i]);
    if (JS_IsException(result) || JS_ToInt32(ctx, &number, result)) {
        http_now.failed = true;
        return -1;
    }
    JS_FreeValue(ctx, result);
    return number;
}

static u32 http_track(HttpParser *p, u32 len)
{
    p->header_bytes += len;
    return p->header_bytes >= p->max_header ? http_refuse(p->parser, "HPE_HEADER_OVERFLOW:Header overflow") : LLHTTP_OK;
}

static u32 http_gather(HttpText *text, u32 at, u32 len)
{
    u32 error = http_track(http_now.p, len);
    if (!error && !http_append(text, llhttp_memory + at, len))
        return http_refuse(http_now.p->parser, "HPE_USER:Out of memory");
    return error;
}

/* Passes the place of a piece of the input to the handler, which collects the pieces. */
static u32 http_piece(int kind, u32 at, u32 len)
{
    return http_call(kind, JS_NewUint32(http_now.ctx, at - http_now.input), JS_NewUint32(http_now.ctx, len), JS_UNDEFINED);
}

static u32 llhttp_wasm_on_message_begin(u32 parser)
{
    HttpParser *p = http_now.p;
    if (p->raw)
        return http_call(EVENT_BEGIN, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED);
    http_clear(p);
    p->header_bytes = 0;
    JS_FreeValue(http_now.ctx, http_take_headers(http_now.ctx, p));
    return http_call(EVENT_BEGIN, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED) < 0 ? LLHTTP_USER : LLHTTP_OK;
}

static u32 llhttp_wasm_on_url(u32 parser, u32 at, u32 len) { return http_gather(&http_now.p->url, at, len); }
static u32 llhttp_wasm_on_status(u32 parser, u32 at, u32 len)
{
    return http_now.p->raw ? http_piece(EVENT_STATUS, at, len) : http_gather(&http_now.p->status, at, len);
}

static u32 llhttp_wasm_on_header_field(u32 parser, u32 at, u32 len)
{
    if (http_now.p->raw)
        return http_piece(EVENT_FIELD, at, len);
    if (http_now.p->in_value && http_flush_pair(http_now.ctx, http_now.p)) {
        http_now.failed = true;
        return LLHTTP_USER;
    }
    return http_gather(&http_now.p->field, at, len);
}

static u32 llhttp_wasm_on_header_value(u32 parser, u32 at, u32 len)
{
    if (http_now.p->raw)
        return http_piece(EVENT_VALUE, at, len);
    http_now.p->in_value = true;
    return http_gather(&http_now.p->value, at, len);
}

static u32 llhttp_wasm_on_headers_complete(u32 parser, u32 status, u32 upgrade, u32 keep_alive)
{
    JSContext *ctx = http_now.ctx;
    HttpParser *p = http_now.p;
    int32_t result;

    if (p->raw)
        return http_call(EVENT_HEADERS_COMPLETE, JS_NewUint32(ctx, status), JS_NewBool(ctx, upgrade),
                         JS_NewBool(ctx, keep_alive));
    p->header_bytes = 0;
    if (http_flush_pair(ctx, p)) {
        http_now.failed = true;
        return LLHTTP_USER;
    }
    result = http_call(EVENT_HEADERS_COMPLETE, http_take_headers(ctx, p), http_latin1(ctx, p->url.bytes, p->url.len),
                       http_latin1(ctx, p->status.bytes, p->status.len));
    http_clear(p);
    return result;
}

static u32 llhttp_wasm_on_body(u32 parser, u32 at, u32 len)
{
    if (http_now.p->raw)
        return http_piece(EVENT_BODY, at, len);
    if (!len)
        return LLHTTP_OK;
    return http_call(EVENT_BODY, JS_NewUint32(http_now.ctx, at - http_now.input), JS_NewUint32(http_now.ctx, len),
                     JS_UNDEFINED) < 0
               ? LLHTTP_USER : LLHTTP_OK;
}

static u32 llhttp_wasm_on_message_complete(u32 parser)
{
    JSContext *ctx = http_now.ctx;
    HttpParser *p = http_now.p;

    if (p->raw)
        return http_call(EVENT_COMPLETE, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED);
    p->header_bytes = 0;
    if (http_flush_pair(ctx, p)) {
        http_now.failed = true;
        return LLHTTP_USER;
    }
    if (p->header_count && http_call(EVENT_HEADERS, http_take_headers(ctx, p), JS_UNDEFINED, JS_UNDEFINED) < 0)
        return LLHTTP_USER;
    return http_call(EVENT_COMPLETE, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED) < 0 ? LLHTTP_USER : LLHTTP_OK;
}

/* httpNew(): returns an object without a parser */
LIBRARY_NATIVE(http_new)
{
    HttpParser *p = calloc(1, sizeof(*p));
    JSValue object = p ? JS_NewObjectClass(ctx, http_class) : JS_ThrowOutOfMemory(ctx);
    if (JS_IsException(object)) {
        free(p);
        return object;
    }
    p->headers = JS_UNDEFINED;
    JS_SetOpaque(object, p);
    return object;
}

/* httpInit(state, type, maxHeaderBytes, lenient, raw): makes a parser. `lenient` is a mask of
   Node's binding. Returns false if the module has no space for another parser. */
LIBRARY_NATIVE(http_init)
{
    typedef void (*Lenient)(u32, u32);
    static const Lenient lenient[] = {
        llhttp_set_lenient_headers_, llhttp_set_lenient_chunked_length_, llhttp_set_lenient_keep_alive_,
        llhttp_set_lenient_transfer_encoding_, llhttp_set_lenient_version_, llhttp_set_lenient_data_after_close_,
        llhttp_set_lenient_optional_lf_after_cr_, llhttp_set_lenient_optional_crlf_after_chunk_,
        llhttp_set_lenient_optional_cr_before_lf_, llhttp_set_lenient_spaces_after_chunk_size_,
    };
    HttpParser *p = JS_GetOpaque2(ctx, argv[0], http_class);
    uint32_t type, max, mask;

    if (!p || JS_ToUint32(ctx, &type, argv[1]) || JS_ToUint32(ctx, &max, argv[2]) || JS_ToUint32(ctx, &mask, argv[3]))
        return JS_EXCEPTION;
    if (p->parser)
        llhttp_free_(p->parser);
    p->parser = llhttp_alloc_(type);
    p->max_header = max;
    p->raw = JS_ToBool(ctx, argv[4]);
    p->header_bytes = 0;
    http_clear(p);
    JS_FreeValue(ctx, http_take_headers(ctx, p));
    if (!p->parser)
        return JS_FALSE;
    for (size_t i = 0; i < sizeof(lenient) / sizeof(*lenient); i++)
        if (mask & 1u << i)
            lenient[i](p->parser, 1);
    return JS_TRUE;
}

static HttpParser *http_get(JSContext *ctx, JSValueConst value)
{
    HttpParser *p = JS_GetOpaque2(ctx, value, http_class);
    if (p && !p->parser) {
        JS_ThrowTypeError(ctx, "the parser is not initialized");
        return NULL;
    }
    return p;
}

/* httpRun(state, handler, bytes, offset, length, result): parses bytes. Sets result[0] to
   llhttp's error, result[1] to the number of parsed bytes, and result[2] to whether the message
   is an upgrade. Undefined bytes mean that the input has ended. */
LIBRARY_NATIVE(http_run)
{
    HttpParser *p = http_get(ctx, argv[0]);
    bool ends = argc > 2 && JS_IsUndefined(argv[2]);
    uint32_t offset = 0, length = 0, result[3] = { 0 };
    size_t total = 0, result_len;
    uint8_t *bytes = NULL, *out;
    u32 done = 0;

    if (!p || JS_ToUint32(ctx, &offset, argv[3]) || JS_ToUint32(ctx, &length, argv[4]))
        return JS_EXCEPTION;
    if (http_depth == LLHTTP_DEPTH)
        return JS_ThrowRangeError(ctx, "too many parsers run inside one another");
    __typeof__(http_now) before = http_now;
    http_now.ctx = ctx;
    http_now.p = p;
    http_now.handler = argv[1];
    http_now.input = LLHTTP_MODULE_BYTES + http_depth * LLHTTP_INPUT_BYTES;
    http_now.failed = false;
    http_depth++;
    if (ends)
        result[0] = llhttp_finish_(p->parser);
    while (!ends && done < length) {
        u32 slice = length - done < LLHTTP_INPUT_BYTES ? length - done : LLHTTP_INPUT_BYTES;
        /* The bytes are fetched each time, because a callback may have detached the buffer. */
        bytes = library_bytes(ctx, argv[2], &total);
        if (!bytes || offset > total || length > total - offset) {
            if (bytes)
                JS_ThrowRangeError(ctx, "the input buffer is detached");
            http_now.failed = true;
            break;
        }
        memcpy(llhttp_memory + http_now.input, bytes + offset + done, slice);
        http_now.input -= done; /* callbacks report places in the whole input */
        result[0] = llhttp_execute_(p->parser, http_now.input + done, slice);
        if (result[0]) {
            u32 at = llhttp_get_error_pos_(p->parser);
            done = at ? at - http_now.input : done + slice;
            break;
        }
        http_now.input += done;
        done += slice;
        if (host_poll())
            break; /* the engine's own poll unwinds */
    }
    http_depth--;
    bool failed = http_now.failed;
    http_now = before;
    if (failed)
        return JS_EXCEPTION;
    result[1] = done;
    result[2] = llhttp_get_upgrade_(p->parser);
    if (result[0] == LLHTTP_PAUSED_UPGRADE && !p->raw) {
        llhttp_resume_after_upgrade_(p->parser);
        result[0] = LLHTTP_OK;
    }
    if (!(out = library_bytes(ctx, argv[5], &result_len)) || result_len < sizeof(result))
        return JS_EXCEPTION;
    memcpy(out, result, sizeof(result));
    return JS_UNDEFINED;
}

/* httpFacts(state): returns [major, minor, method, status, upgrade, keepAlive] */
LIBRARY_NATIVE(http_facts)
{
    HttpParser *p = http_get(ctx, argv[0]);
    JSValue array = p ? JS_NewArray(ctx) : JS_EXCEPTION;
    if (JS_IsException(array))
        return array;
    u32 facts[] = { llhttp_get_http_major_(p->parser), llhttp_get_http_minor_(p->parser), llhttp_get_method_(p->parser),
                    llhttp_get_status_code_(p->parser), llhttp_get_upgrade_(p->parser), llhttp_should_keep_alive_(p->parser) };
    for (uint32_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        JS_DefinePropertyValueUint32(ctx, array, i, JS_NewUint32(ctx, facts[i]), JS_PROP_C_W_E);
    return array;
}

/* httpPause(state, on): pauses the parser, or lets the parser continue */
LIBRARY_NATIVE(http_pause)
{
    HttpParser *p = http_get(ctx, argv[0]);
    if (!p)
        return JS_EXCEPTION;
    (JS_ToBool(ctx, argv[1]) ? llhttp_pause_ : llhttp_resume_)(p->parser);
    return JS_UNDEFINED;
}

/* httpReason(state, error): returns [name, reason] */
LIBRARY_NATIVE(http_reason)
{
    HttpParser *p = http_get(ctx, argv[0]);
    uint32_t error;
    JSValue array;

    if (!p || JS_ToUint32(ctx, &error, argv[1]))
        return JS_EXCEPTION;
    u32 name = llhttp_errno_name_(error), reason = llhttp_get_error_reason_(p->parser);
    array = JS_NewArray(ctx);
    JS_DefinePropertyValueUint32(ctx, array, 0, JS_NewString(ctx, (char *)llhttp_memory + name), JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, array, 1, JS_NewString(ctx, reason ? (char *)llhttp_memory + reason : ""), JS_PROP_C_W_E);
    return array;
}

static const LibraryNative http_natives[] = {
    { "httpNew", http_new, 0 },     { "httpInit", http_init, 5 },   { "httpRun", http_run, 6 },
    { "httpFacts", http_facts, 1 }, { "httpPause", http_pause, 2 }, { "httpReason", http_reason, 2 },
};
