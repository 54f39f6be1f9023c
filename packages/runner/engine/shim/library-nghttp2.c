/* nghttp2, the library below Node's `http2`: one session per object of the class Http2State. This
   file makes sessions, feeds input, collects output, and calls a handler in JavaScript for the
   events of a session. The handler passed to a call is valid during the call only, so a session
   references no JavaScript function. Next: library-nghttp2-submit.c, the frames that a program
   sends; bootstrap/http2/session.js, the handler. */
#include <nghttp2/nghttp2.h>

/* The events of the handler, with their arguments. `id` is a stream's number. The constants are
   repeated in bootstrap/http2/events.js. */
enum {
    H2_BEGIN_HEADERS, /* (id, category): the bytes of headers that are allowed, or an error */
    H2_HEADERS,       /* (id, category, flags, headers, sensitive, bytes) */
    H2_TOO_MANY_HEADERS, /* (id) */
    H2_DATA,          /* (id, bytes) */
    H2_DATA_FRAME,    /* (id, ended): the frame has ended; anything but 0 stops the session */
    H2_SETTINGS,      /* (ack, entries) */
    H2_PRIORITY,      /* (id, parent, weight, exclusive) */
    H2_GOAWAY,        /* (code, lastStreamId, bytes) */
    H2_PING,          /* (ack, bytes) */
    H2_ALTSVC,        /* (id, origin, value) */
    H2_ORIGIN,        /* (origins) */
    H2_INVALID_FRAME, /* (error): anything but 0 stops the session */
    H2_NOT_SENT,      /* (id, type, error) */
    H2_GOAWAY_SENT,   /* () */
    H2_CLOSED,        /* (id, code) */
    H2_NO_PEER,       /* (): the peer does not speak HTTP/2 */
    H2_READ,          /* (id, length): the bytes to send, with the flags below, or an error */
    H2_SEND,          /* (id, length): calls h2Append for exactly `length` bytes */
};

/* The flags in the result of H2_READ. A frame has at most 2^24 - 1 bytes. */
enum { H2_READ_ENDED = 1 << 28, H2_READ_TRAILERS = 1 << 29, H2_READ_BYTES = (1 << 24) - 1 };

/* The indexes of the options, and the bits of the options that are set (node_http2_state.h). */
enum {
    H2_OPTION_DEFLATE_TABLE, H2_OPTION_RESERVED_STREAMS, H2_OPTION_HEADER_BLOCK, H2_OPTION_PEER_STREAMS, H2_OPTION_PADDING,
    H2_OPTION_HEADER_PAIRS, H2_OPTION_PINGS, H2_OPTION_OUTSTANDING_SETTINGS, H2_OPTION_MEMORY, H2_OPTION_SETTINGS,
    H2_OPTION_RESET_RATE, H2_OPTION_RESET_BURST, H2_OPTION_NO_WHITESPACE_CHECK, H2_OPTION_FLAGS, H2_OPTION_COUNT
};
enum { H2_PADDING_NONE, H2_PADDING_ALIGNED, H2_PADDING_MAX };
enum {
    H2_PEER_STREAMS = 100,       /* Node's default limit of concurrent streams until the peer's SETTINGS */
    H2_GLITCH_BURST = 10000,     /* suspicious frames, and frames per second, as in the nghttp2 1.70 of Node */
    H2_GLITCH_RATE = 330,
    H2_INPUT_BYTES = 64 << 10,   /* input per call of nghttp2 */
    H2_OUTPUT_BYTES = 128 << 10, /* h2Send() returns after a frame that reaches this number */
    H2_HEADER_OVERHEAD = 32,     /* bytes that RFC 9113 adds to the size of a header */
};

typedef struct H2Session {
    nghttp2_session *session;
    uint32_t padding;
    double frames_received, frames_sent;
    /* the header block that is being received: a block's frames are never interrupted */
    JSValue headers, sensitive;
    uint32_t header_pairs, max_header_pairs, sensitive_count;
    size_t header_bytes, max_header_bytes;
    /* the output, and the bytes that h2Append() may still add */
    uint8_t *out;
    size_t out_len, out_capacity, append_left;
    /* set while nghttp2 runs */
    JSContext *ctx;
    JSValueConst handler;
    bool failed;
    bool dead; /* a call was unwound inside of nghttp2, which must not run again */
} H2Session;

static JSClassID h2_class;
static nghttp2_session_callbacks *h2_callbacks, *h2_padded_callbacks;

static void h2_drop_headers(JSRuntime *rt, H2Session *s)
{
    JS_FreeValueRT(rt, s->headers);
    JS_FreeValueRT(rt, s->sensitive);
    s->headers = s->sensitive = JS_UNDEFINED;
    s->header_pairs = s->sensitive_count = 0;
    s->header_bytes = 0;
}

static void h2_finalize(JSRuntime *rt, JSValueConst value)
{
    H2Session *s = JS_GetOpaque(value, h2_class);
    if (!s)
        return;
    h2_drop_headers(rt, s);
    nghttp2_session_del(s->session);
    free(s->out);
    free(s);
}

static void h2_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    H2Session *s = JS_GetOpaque(value, h2_class);
    if (s) {
        JS_MarkValue(rt, s->headers, mark);
        JS_MarkValue(rt, s->sensitive, mark);
    }
}

static const JSClassDef h2_class_def = { "Http2State", .finalizer = h2_finalize, .gc_mark = h2_mark };

static H2Session *h2_get(JSContext *ctx, JSValueConst value)
{
    return JS_GetOpaque2(ctx, value, h2_class);
}

/* Calls the handler and frees the references to the values. Returns the handler's number, or
   NGHTTP2_ERR_CALLBACK_FAILURE after an exception, which stops the session. */
static int32_t h2_call(H2Session *s, int event, int count, JSValue *values)
{
    JSContext *ctx = s->ctx;
    JSValue args[8] = { JS_NewInt32(ctx, event) }, result = JS_EXCEPTION;
    int32_t number = 0;
    bool made = true;

    for (int i = 0; i < count; i++) {
        args[i + 1] = values[i];
        made = made && !JS_IsException(values[i]);
    }
    if (made && !s->failed)
        result = JS_Call(ctx, s->handler, JS_UNDEFINED, count + 1, (JSValueConst *)args);
    for (int i = 1; i <= count; i++)
        JS_FreeValue(ctx, args[i]);
    if (JS_IsException(result) || JS_ToInt32(ctx, &number, result)) {
        s->failed = true;
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    JS_FreeValue(ctx, result);
    return number;
}

#define H2_CALL(s, event, ...) \
    h2_call(s, event, sizeof((JSValue[]){ __VA_ARGS__ }) / sizeof(JSValue), (JSValue[]){ __VA_ARGS__ })

/* Returns the result of a callback: 0, or a failure after an exception. */
static int h2_done(int32_t number)
{
    return number == NGHTTP2_ERR_CALLBACK_FAILURE ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int32_t h2_stream_id(const nghttp2_frame *frame)
{
    return frame->hd.type == NGHTTP2_PUSH_PROMISE ? frame->push_promise.promised_stream_id : frame->hd.stream_id;
}

static int h2_on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    H2Session *s = user;
    int32_t category = frame->hd.type == NGHTTP2_HEADERS ? (int32_t)frame->headers.cat : NGHTTP2_HCAT_REQUEST;
    int32_t allowed;

    h2_drop_headers(JS_GetRuntime(s->ctx), s);
    allowed = H2_CALL(s, H2_BEGIN_HEADERS, JS_NewInt32(s->ctx, h2_stream_id(frame)), JS_NewInt32(s->ctx, category));
    if (allowed < 0)
        return allowed;
    s->max_header_bytes = allowed;
    s->headers = JS_NewArray(s->ctx);
    s->sensitive = JS_NewArray(s->ctx);
    if (JS_IsException(s->headers) || JS_IsException(s->sensitive)) {
        s->failed = true;
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
}

static bool h2_put(JSContext *ctx, JSValue array, uint32_t index, JSValue value)
{
    return !JS_IsException(value) && JS_DefinePropertyValueUint32(ctx, array, index, value, JS_PROP_C_W_E) >= 0;
}

static int h2_on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name_buffer,
                        nghttp2_rcbuf *value_buffer, uint8_t flags, void *user)
{
    H2Session *s = user;
    JSContext *ctx = s->ctx;
    nghttp2_vec name = nghttp2_rcbuf_get_buf(name_buffer), value = nghttp2_rcbuf_get_buf(value_buffer);
    size_t bytes = name.len + value.len + H2_HEADER_OVERHEAD;
    JSValue text;

    if (!name.len)
        return 0;
    if (s->header_pairs == s->max_header_pairs || bytes > s->max_header_bytes - s->header_bytes) {
        int32_t result = H2_CALL(s, H2_TOO_MANY_HEADERS, JS_NewInt32(ctx, h2_stream_id(frame)));
        return h2_done(result) ? NGHTTP2_ERR_CALLBACK_FAILURE : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    text = http_latin1(ctx, (char *)name.base, name.len);
    if (JS_IsException(text) ||
        ((flags & NGHTTP2_NV_FLAG_NO_INDEX) && !h2_put(ctx, s->sensitive, s->sensitive_count++, JS_DupValue(ctx, text))) ||
        !h2_put(ctx, s->headers, s->header_pairs * 2, text) ||
        !h2_put(ctx, s->headers, s->header_pairs * 2 + 1, http_latin1(ctx, (char *)value.base, value.len))) {
        s->failed = true;
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    s->header_pairs++;
    s->header_bytes += bytes;
    return 0;
}

static int h2_headers_received(H2Session *s, const nghttp2_frame *frame)
{
    JSContext *ctx = s->ctx;
    JSValue headers = s->headers, sensitive = s->sensitive;
    double bytes = s->header_bytes;
    int32_t category = frame->hd.type == NGHTTP2_HEADERS ? (int32_t)frame->headers.cat : NGHTTP2_HCAT_REQUEST;

    s->headers = s->sensitive = JS_UNDEFINED;
    h2_drop_headers(JS_GetRuntime(ctx), s);
    if (JS_IsUndefined(headers))
        return 0;
    return h2_done(H2_CALL(s, H2_HEADERS, JS_NewInt32(ctx, h2_stream_id(frame)), JS_NewInt32(ctx, category),
                           JS_NewInt32(ctx, frame->hd.flags), headers, sensitive, JS_NewFloat64(ctx, bytes)));
}

static JSValue h2_bytes(JSContext *ctx, const uint8_t *bytes, size_t len)
{
    return JS_NewArrayBufferCopy(ctx, bytes, len);
}

static int h2_settings_received(H2Session *s, const nghttp2_frame *frame)
{
    JSValue entries = JS_NewArray(s->ctx);
    for (size_t i = 0; i < frame->settings.niv && !JS_IsException(entries); i++) {
        h2_put(s->ctx, entries, i * 2, JS_NewInt32(s->ctx, frame->settings.iv[i].settings_id));
        h2_put(s->ctx, entries, i * 2 + 1, JS_NewUint32(s->ctx, frame->settings.iv[i].value));
    }
    return h2_done(H2_CALL(s, H2_SETTINGS, JS_NewBool(s->ctx, frame->hd.flags & NGHTTP2_FLAG_ACK), entries));
}

static int h2_origin_received(H2Session *s, const nghttp2_ext_origin *origin)
{
    JSValue list = JS_NewArray(s->ctx);
    for (size_t i = 0; i < origin->nov && !JS_IsException(list); i++)
        h2_put(s->ctx, list, i, http_latin1(s->ctx, (char *)origin->ov[i].origin, origin->ov[i].origin_len));
    return h2_done(H2_CALL(s, H2_ORIGIN, list));
}

static int h2_on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    H2Session *s = user;
    JSContext *ctx = s->ctx;
    bool ack = frame->hd.flags & NGHTTP2_FLAG_ACK, ended = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;

    s->frames_received++;
    switch (frame->hd.type) {
    case NGHTTP2_DATA:
        if (!ended && frame->hd.length)
            return 0;
        return H2_CALL(s, H2_DATA_FRAME, JS_NewInt32(ctx, frame->hd.stream_id), JS_NewBool(ctx, ended))
                   ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
    case NGHTTP2_HEADERS:
    case NGHTTP2_PUSH_PROMISE:
        return h2_headers_received(s, frame);
    case NGHTTP2_SETTINGS:
        return h2_settings_received(s, frame);
    case NGHTTP2_PRIORITY:
        return h2_done(H2_CALL(s, H2_PRIORITY, JS_NewInt32(ctx, frame->hd.stream_id),
                               JS_NewInt32(ctx, frame->priority.pri_spec.stream_id),
                               JS_NewInt32(ctx, frame->priority.pri_spec.weight),
                               JS_NewBool(ctx, frame->priority.pri_spec.exclusive)));
    case NGHTTP2_GOAWAY:
        return h2_done(H2_CALL(s, H2_GOAWAY, JS_NewUint32(ctx, frame->goaway.error_code),
                               JS_NewInt32(ctx, frame->goaway.last_stream_id),
                               frame->goaway.opaque_data_len
                                   ? h2_bytes(ctx, frame->goaway.opaque_data, frame->goaway.opaque_data_len)
                                   : JS_UNDEFINED));
    case NGHTTP2_PING:
        return h2_done(H2_CALL(s, H2_PING, JS_NewBool(ctx, ack),
                               h2_bytes(ctx, frame->ping.opaque_data, sizeof(frame->ping.opaque_data))));
    case NGHTTP2_ALTSVC: {
        nghttp2_ext_altsvc *altsvc = frame->ext.payload;
        return h2_done(H2_CALL(s, H2_ALTSVC, JS_NewInt32(ctx, frame->hd.stream_id),
                               http_latin1(ctx, (char *)altsvc->origin, altsvc->origin_len),
                               http_latin1(ctx, (char *)altsvc->field_value, altsvc->field_value_len)));
    }
    case NGHTTP2_ORIGIN:
        return h2_origin_received(s, frame->ext.payload);
    default:
        return 0;
    }
}

static int h2_on_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int error, void *user)
{
    H2Session *s = user;
    return H2_CALL(s, H2_INVALID_FRAME, JS_NewInt32(s->ctx, error)) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/* Ignores a header that nghttp2 rejects, as Node does. Without this callback, nghttp2 would reset
   the stream. */
static int h2_on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
                                nghttp2_rcbuf *value, uint8_t flags, void *user)
{
    return 0;
}

static int h2_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t len, void *user)
{
    H2Session *s = user;
    int result = nghttp2_session_consume_connection(session, len);
    if (result)
        return result;
    return h2_done(H2_CALL(s, H2_DATA, JS_NewInt32(s->ctx, id), h2_bytes(s->ctx, data, len)));
}

static int h2_on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    H2Session *s = user;
    s->frames_sent++;
    return frame->hd.type == NGHTTP2_GOAWAY ? h2_done(h2_call(s, H2_GOAWAY_SENT, 0, NULL)) : 0;
}

static int h2_on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int error, void *user)
{
    H2Session *s = user;
    return h2_done(H2_CALL(s, H2_NOT_SENT, JS_NewInt32(s->ctx, frame->hd.stream_id), JS_NewInt32(s->ctx, frame->hd.type),
                           JS_NewInt32(s->ctx, error)));
}

static int h2_on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    H2Session *s = user;
    return h2_done(H2_CALL(s, H2_CLOSED, JS_NewInt32(s->ctx, id), JS_NewUint32(s->ctx, code)));
}

static int h2_on_error(nghttp2_session *session, int error, const char *message, size_t len, void *user)
{
    H2Session *s = user;
    return error == NGHTTP2_ERR_SETTINGS_EXPECTED ? h2_done(h2_call(s, H2_NO_PEER, 0, NULL)) : 0;
}

/* Returns the length of a frame's payload with padding. */
static nghttp2_ssize h2_select_padding(nghttp2_session *session, const nghttp2_frame *frame, size_t max, void *user)
{
    H2Session *s = user;
    size_t length = frame->hd.length, beyond = (length + 9) % 8; /* a frame's header has 9 bytes */

    if (s->padding == H2_PADDING_MAX)
        return max;
    if (s->padding == H2_PADDING_ALIGNED && beyond)
        return length + 8 - beyond < max ? length + 8 - beyond : max;
    return length;
}

static bool h2_reserve(H2Session *s, size_t len)
{
    if (len > s->out_capacity - s->out_len) {
        size_t capacity = (s->out_len + len) * 2;
        uint8_t *larger = realloc(s->out, capacity);
        if (!larger)
            return false;
        s->out = larger;
        s->out_capacity = capacity;
    }
    return true;
}

static bool h2_output(H2Session *s, const uint8_t *bytes, size_t len)
{
    if (!h2_reserve(s, len)) {
        JS_ThrowOutOfMemory(s->ctx);
        s->failed = true;
        return false;
    }
    if (bytes)
        memcpy(s->out + s->out_len, bytes, len);
    else
        memset(s->out + s->out_len, 0, len);
    s->out_len += len;
    return true;
}

/* Adds a DATA frame to the output: the frame's header, the bytes of the stream, the padding. */
static int h2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *header, size_t length,
                        nghttp2_data_source *source, void *user)
{
    H2Session *s = user;
    size_t padding = frame->data.padlen;
    uint8_t pad_byte = padding ? padding - 1 : 0;

    if (!h2_output(s, header, 9) || (padding && !h2_output(s, &pad_byte, 1)))
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    s->append_left = length;
    H2_CALL(s, H2_SEND, JS_NewInt32(s->ctx, frame->hd.stream_id), JS_NewUint32(s->ctx, length));
    if (!s->failed && s->append_left) {
        JS_ThrowInternalError(s->ctx, "a stream has sent fewer bytes than announced");
        s->failed = true;
    }
    s->append_left = 0;
    if (s->failed || (padding > 1 && !h2_output(s, NULL, padding - 1)))
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    return 0;
}

static nghttp2_ssize h2_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t length, uint32_t *flags,
                             nghttp2_data_source *source, void *user)
{
    H2Session *s = user;
    int32_t result = H2_CALL(s, H2_READ, JS_NewInt32(s->ctx, id), JS_NewUint32(s->ctx, length));
    size_t bytes;

    if (result < 0)
        return result;
    bytes = result & H2_READ_BYTES;
    if (bytes > length)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (bytes)
        *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (result & H2_READ_ENDED)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (result & H2_READ_TRAILERS)
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return bytes;
}

static void h2_random(uint8_t *bytes, size_t len)
{
    host_random(bytes, len);
}

static nghttp2_session_callbacks *h2_new_callbacks(bool padded)
{
    nghttp2_session_callbacks *c;
    if (nghttp2_session_callbacks_new(&c))
        return NULL;
    nghttp2_session_callbacks_set_on_begin_headers_callback(c, h2_on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(c, h2_on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, h2_on_frame_recv);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, h2_on_invalid_frame);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(c, h2_on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, h2_on_data);
    nghttp2_session_callbacks_set_on_frame_send_callback(c, h2_on_frame_send);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(c, h2_on_frame_not_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, h2_on_stream_close);
    nghttp2_session_callbacks_set_error_callback2(c, h2_on_error);
    nghttp2_session_callbacks_set_send_data_callback(c, h2_send_data);
    nghttp2_session_callbacks_set_rand_callback(c, h2_random);
    if (padded)
        nghttp2_session_callbacks_set_select_padding_callback2(c, h2_select_padding);
    return c;
}

static void http2_prepare(JSContext *ctx)
{
    JS_NewClassID(JS_GetRuntime(ctx), &h2_class);
    JS_NewClass(JS_GetRuntime(ctx), h2_class, &h2_class_def);
    h2_callbacks = h2_new_callbacks(false);
    h2_padded_callbacks = h2_new_callbacks(true);
}
