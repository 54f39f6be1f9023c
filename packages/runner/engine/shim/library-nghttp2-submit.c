/* The natives of nghttp2: a session's life, input and output, the frames that a program sends, and
   the state that a program reads. A native that returns nghttp2's result returns a negative error
   code for a failure. Next: bootstrap/http2/session.js. */

static nghttp2_option *h2_options(bool is_server, const uint32_t *values)
{
    uint32_t set = values[H2_OPTION_FLAGS];
    nghttp2_option *o;

#define H2_IS_SET(option) (set & 1u << (option))
    if (nghttp2_option_new(&o))
        return NULL;
    /* Closed streams would only be kept for the priority tree. Windows are opened when the program
       has read the data. */
    nghttp2_option_set_no_closed_streams(o, 1);
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_option_set_glitch_rate_limit(o, H2_GLITCH_BURST, H2_GLITCH_RATE);
    nghttp2_option_set_peer_max_concurrent_streams(
        o, H2_IS_SET(H2_OPTION_PEER_STREAMS) ? values[H2_OPTION_PEER_STREAMS] : H2_PEER_STREAMS);
    if (!is_server) {
        nghttp2_option_set_builtin_recv_extension_type(o, NGHTTP2_ALTSVC);
        nghttp2_option_set_builtin_recv_extension_type(o, NGHTTP2_ORIGIN);
    }
    if (H2_IS_SET(H2_OPTION_DEFLATE_TABLE))
        nghttp2_option_set_max_deflate_dynamic_table_size(o, values[H2_OPTION_DEFLATE_TABLE]);
    if (H2_IS_SET(H2_OPTION_RESERVED_STREAMS))
        nghttp2_option_set_max_reserved_remote_streams(o, values[H2_OPTION_RESERVED_STREAMS]);
    if (H2_IS_SET(H2_OPTION_HEADER_BLOCK))
        nghttp2_option_set_max_send_header_block_length(o, values[H2_OPTION_HEADER_BLOCK]);
    if (H2_IS_SET(H2_OPTION_NO_WHITESPACE_CHECK))
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(o, values[H2_OPTION_NO_WHITESPACE_CHECK]);
    if (H2_IS_SET(H2_OPTION_SETTINGS))
        nghttp2_option_set_max_settings(o, values[H2_OPTION_SETTINGS]);
    if (H2_IS_SET(H2_OPTION_RESET_BURST) && H2_IS_SET(H2_OPTION_RESET_RATE))
        nghttp2_option_set_stream_reset_rate_limit(o, values[H2_OPTION_RESET_BURST], values[H2_OPTION_RESET_RATE]);
    return o;
#undef H2_IS_SET
}

/* h2New(isServer, options, maxHeaderPairs): makes a session. `options` is a Uint8Array over Node's
   array of options. */
LIBRARY_NATIVE(h2_new)
{
    bool is_server = JS_ToBool(ctx, argv[0]);
    uint32_t pairs, values[H2_OPTION_COUNT];
    size_t len;
    uint8_t *bytes = library_bytes(ctx, argv[1], &len);
    nghttp2_option *options;
    H2Session *s;
    JSValue object;
    int result;

    if (!bytes || JS_ToUint32(ctx, &pairs, argv[2]))
        return JS_EXCEPTION;
    if (len != sizeof(values))
        return JS_ThrowRangeError(ctx, "h2New: the array of options has another length");
    memcpy(values, bytes, sizeof(values));
    if (!h2_callbacks || !h2_padded_callbacks || !(s = calloc(1, sizeof(*s))))
        return JS_ThrowOutOfMemory(ctx);
    s->headers = s->sensitive = JS_UNDEFINED;
    s->max_header_pairs = pairs;
    s->padding = values[H2_OPTION_FLAGS] & 1u << H2_OPTION_PADDING ? values[H2_OPTION_PADDING] : H2_PADDING_NONE;
    options = h2_options(is_server, values);
    result = !options ? NGHTTP2_ERR_NOMEM
             : (is_server ? nghttp2_session_server_new2 : nghttp2_session_client_new2)(
                   &s->session, s->padding == H2_PADDING_NONE ? h2_callbacks : h2_padded_callbacks, s, options);
    nghttp2_option_del(options);
    object = result ? JS_ThrowOutOfMemory(ctx) : JS_NewObjectClass(ctx, h2_class);
    if (JS_IsException(object)) {
        nghttp2_session_del(s->session);
        free(s);
        return object;
    }
    JS_SetOpaque(object, s);
    return object;
}

/* Prepares a call of nghttp2 that calls the handler. Such calls cannot be nested. */
static bool h2_enter(JSContext *ctx, H2Session *s, JSValueConst handler)
{
    if (s->ctx) {
        JS_ThrowTypeError(ctx, "the HTTP/2 session is busy");
        return false;
    }
    s->ctx = ctx;
    s->handler = handler;
    s->failed = false;
    return true;
}

/* Ends such a call. Returns false if the handler threw an exception, for example because the
   sandbox has ended an evaluation. */
static bool h2_leave(JSContext *ctx, H2Session *s)
{
    s->ctx = NULL;
    s->handler = JS_UNDEFINED;
    s->dead |= s->failed;
    return !s->failed;
}

/* h2Receive(state, handler, bytes, length): feeds input. Returns 0 or an error code. The input is
   copied, because a callback may detach the buffer. */
LIBRARY_NATIVE(h2_receive)
{
    H2Session *s = h2_get(ctx, argv[0]);
    nghttp2_ssize result = 0;
    uint32_t length, done = 0;
    uint8_t *input, *bytes;
    size_t total;

    if (!s || JS_ToUint32(ctx, &length, argv[3]) || !h2_enter(ctx, s, argv[1]))
        return JS_EXCEPTION;
    if (s->dead) {
        h2_leave(ctx, s);
        return JS_NewInt32(ctx, NGHTTP2_ERR_CALLBACK_FAILURE);
    }
    input = malloc(length < H2_INPUT_BYTES ? length + 1 : H2_INPUT_BYTES);
    if (!input) {
        JS_ThrowOutOfMemory(ctx);
        s->failed = true;
    }
    while (!s->failed && done < length && result >= 0) {
        uint32_t slice = length - done < H2_INPUT_BYTES ? length - done : H2_INPUT_BYTES;
        if (!(bytes = library_bytes(ctx, argv[2], &total))) {
            s->failed = true;
            break;
        }
        if (length > total)
            break; /* the program has detached the buffer */
        memcpy(input, bytes + done, slice);
        result = nghttp2_session_mem_recv2(s->session, input, slice);
        done += slice;
        if (host_poll())
            break; /* the engine's own poll unwinds */
    }
    free(input);
    if (!h2_leave(ctx, s))
        return JS_EXCEPTION;
    return result == NGHTTP2_ERR_NOMEM ? JS_ThrowOutOfMemory(ctx) : JS_NewInt32(ctx, result < 0 ? result : 0);
}

static void *h2_resize(JSRuntime *rt, void *opaque, void *memory, size_t size)
{
    if (size)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

/* h2Send(state, handler): collects output. Returns a Uint8Array, or undefined without output. A
   result of at least H2_OUTPUT_BYTES bytes means that more output may follow. */
LIBRARY_NATIVE(h2_send)
{
    H2Session *s = h2_get(ctx, argv[0]);
    const uint8_t *bytes;
    nghttp2_ssize len = 0;
    size_t total;
    uint8_t *out;

    if (!s || !h2_enter(ctx, s, argv[1]))
        return JS_EXCEPTION;
    while (!s->dead && s->out_len < H2_OUTPUT_BYTES && (len = nghttp2_session_mem_send2(s->session, &bytes)) > 0)
        if (!h2_output(s, bytes, len))
            break;
    if (!h2_leave(ctx, s))
        return JS_EXCEPTION;
    if (len == NGHTTP2_ERR_NOMEM)
        return JS_ThrowOutOfMemory(ctx);
    out = s->out;
    total = s->out_len;
    s->out = NULL;
    s->out_len = s->out_capacity = 0;
    if (!total) {
        free(out);
        return JS_UNDEFINED;
    }
    JSValue array = JS_NewUint8Array(ctx, out, total, h2_resize, NULL, false);
    if (JS_IsException(array))
        free(out);
    return array;
}

/* h2IsBusy(state): returns whether nghttp2 runs */
LIBRARY_NATIVE(h2_is_busy)
{
    H2Session *s = h2_get(ctx, argv[0]);
    return s ? JS_NewBool(ctx, s->ctx != NULL) : JS_EXCEPTION;
}

/* h2Append(state, bytes): adds bytes of a stream to the output, during H2_SEND */
LIBRARY_NATIVE(h2_append)
{
    H2Session *s = h2_get(ctx, argv[0]);
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[1], &len) : NULL;

    if (!bytes)
        return JS_EXCEPTION;
    if (!s->ctx || len > s->append_left)
        return JS_ThrowRangeError(ctx, "h2Append: more bytes than announced");
    if (!h2_reserve(s, len))
        return JS_ThrowOutOfMemory(ctx);
    memcpy(s->out + s->out_len, bytes, len);
    s->out_len += len;
    s->append_left -= len;
    return JS_UNDEFINED;
}

enum { H2_REQUEST, H2_RESPONSE, H2_INFORMATION, H2_TRAILERS, H2_PUSH };

/* Divides `name NUL value NUL flags` into at most `count` headers. Returns the number of headers.
   More NULs than expected make a single header that nghttp2 rejects. */
static size_t h2_divide(uint8_t *at, const uint8_t *end, nghttp2_nv *headers, size_t count)
{
    static uint8_t zero;
    size_t n = 0;

    for (; at < end; n++) {
        nghttp2_nv *h = &headers[n];
        if (n == count) {
            headers[0] = (nghttp2_nv){ &zero, &zero, 1, 1, NGHTTP2_NV_FLAG_NONE };
            return 1;
        }
        h->name = at;
        h->namelen = strlen((char *)at);
        at += h->namelen + 1;
        h->value = at;
        h->valuelen = at < end ? strlen((char *)at) : 0;
        at += h->valuelen + 1;
        h->flags = at < end ? *at : NGHTTP2_NV_FLAG_NONE;
        at++;
    }
    return n;
}

/* h2Submit(state, kind, id, text, count, hasBody): sends `count` headers, whose text is a
   Uint8Array in the form of h2_divide(). Returns the new stream's number for a request or a
   push, else 0. */
LIBRARY_NATIVE(h2_submit)
{
    H2Session *s = h2_get(ctx, argv[0]);
    nghttp2_data_provider2 provider = { .read_callback = h2_read }, *body = JS_ToBool(ctx, argv[5]) ? &provider : NULL;
    int32_t kind, id, result = NGHTTP2_ERR_INVALID_ARGUMENT;
    uint32_t count;
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[3], &len) : NULL, *text;
    nghttp2_nv *headers;

    if (!bytes || JS_ToInt32(ctx, &kind, argv[1]) || JS_ToInt32(ctx, &id, argv[2]) || JS_ToUint32(ctx, &count, argv[4]))
        return JS_EXCEPTION;
    /* A header has at least three bytes, so a count that does not belong to the text is bounded. */
    if (count > len)
        count = len;
    headers = malloc((count + 1) * sizeof(*headers) + len + 1);
    if (!headers)
        return JS_ThrowOutOfMemory(ctx);
    text = (uint8_t *)(headers + count + 1);
    memcpy(text, bytes, len);
    text[len] = 0;
    count = h2_divide(text, text + len, headers, count);
    if (kind == H2_REQUEST)
        result = nghttp2_submit_request2(s->session, NULL, headers, count, body, NULL);
    else if (kind == H2_RESPONSE)
        result = nghttp2_submit_response2(s->session, id, headers, count, body);
    else if (kind == H2_INFORMATION)
        result = nghttp2_submit_headers(s->session, NGHTTP2_FLAG_NONE, id, NULL, headers, count, NULL);
    else if (kind == H2_TRAILERS)
        result = nghttp2_submit_trailer(s->session, id, headers, count);
    else if (kind == H2_PUSH)
        result = nghttp2_submit_push_promise(s->session, NGHTTP2_FLAG_NONE, id, headers, count, NULL);
    free(headers);
    return result == NGHTTP2_ERR_NOMEM ? JS_ThrowOutOfMemory(ctx) : JS_NewInt32(ctx, result);
}

/* Reads integer arguments from argv[1] on. Returns the session, or NULL with an exception. */
static H2Session *h2_integers(JSContext *ctx, JSValueConst *argv, int count, int64_t *out)
{
    H2Session *s = h2_get(ctx, argv[0]);
    for (int i = 0; s && i < count; i++)
        if (JS_ToInt64(ctx, &out[i], argv[i + 1]))
            return NULL;
    return s;
}

static JSValue h2_result(JSContext *ctx, int result)
{
    return result == NGHTTP2_ERR_NOMEM ? JS_ThrowOutOfMemory(ctx) : JS_NewInt32(ctx, result);
}

/* h2End(state, id): sends an empty DATA frame that ends the stream */
LIBRARY_NATIVE(h2_end)
{
    nghttp2_data_provider2 provider = { .read_callback = h2_read };
    int64_t id;
    H2Session *s = h2_integers(ctx, argv, 1, &id);
    return s ? h2_result(ctx, nghttp2_submit_data2(s->session, NGHTTP2_FLAG_END_STREAM, id, &provider)) : JS_EXCEPTION;
}

/* h2Reset(state, id, code): sends RST_STREAM */
LIBRARY_NATIVE(h2_reset)
{
    int64_t v[2];
    H2Session *s = h2_integers(ctx, argv, 2, v);
    return s ? h2_result(ctx, nghttp2_submit_rst_stream(s->session, NGHTTP2_FLAG_NONE, v[0], v[1])) : JS_EXCEPTION;
}

/* h2Resume(state, id): sends the data of a stream whose H2_READ returned NGHTTP2_ERR_DEFERRED */
LIBRARY_NATIVE(h2_resume)
{
    int64_t id;
    H2Session *s = h2_integers(ctx, argv, 1, &id);
    return s ? h2_result(ctx, nghttp2_session_resume_data(s->session, id)) : JS_EXCEPTION;
}

/* h2Consume(state, id, bytes): opens the stream's window by the bytes that the program has read */
LIBRARY_NATIVE(h2_consume)
{
    int64_t v[2];
    H2Session *s = h2_integers(ctx, argv, 2, v);
    return s ? h2_result(ctx, nghttp2_session_consume_stream(s->session, v[0], v[1])) : JS_EXCEPTION;
}

/* h2Goaway(state, code, lastStreamId, bytes): sends GOAWAY. Without a positive `lastStreamId`, the
   frame has the last stream that was received. */
LIBRARY_NATIVE(h2_goaway)
{
    int64_t v[2];
    H2Session *s = h2_integers(ctx, argv, 2, v);
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[3], &len) : NULL;

    if (!bytes)
        return JS_EXCEPTION;
    if (v[1] <= 0)
        v[1] = nghttp2_session_get_last_proc_stream_id(s->session);
    return h2_result(ctx, nghttp2_submit_goaway(s->session, NGHTTP2_FLAG_NONE, v[1], v[0], bytes, len));
}

/* h2Terminate(state, code): sends a final GOAWAY */
LIBRARY_NATIVE(h2_terminate)
{
    int64_t code;
    H2Session *s = h2_integers(ctx, argv, 1, &code);
    return s ? h2_result(ctx, nghttp2_session_terminate_session(s->session, code)) : JS_EXCEPTION;
}

/* h2Ping(state, bytes): sends PING with 8 bytes */
LIBRARY_NATIVE(h2_ping)
{
    H2Session *s = h2_get(ctx, argv[0]);
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[1], &len) : NULL;

    if (!bytes)
        return JS_EXCEPTION;
    if (len != 8)
        return JS_ThrowRangeError(ctx, "h2Ping: expected 8 bytes");
    return h2_result(ctx, nghttp2_submit_ping(s->session, NGHTTP2_FLAG_NONE, bytes));
}
