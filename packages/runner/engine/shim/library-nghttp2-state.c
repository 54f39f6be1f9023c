/* The natives of nghttp2 for settings, for frames without a stream, and for the state of sessions
   and streams. The table of all natives of nghttp2 is at the end. */

enum { H2_MAX_SETTINGS = 64 };

/* Reads pairs of an identifier and a value from a Uint8Array over 32-bit numbers. Returns the
   number of settings, or -1 with an exception. */
static int h2_settings_of(JSContext *ctx, JSValueConst value, nghttp2_settings_entry *entries)
{
    uint32_t numbers[2];
    size_t len;
    uint8_t *bytes = library_bytes(ctx, value, &len);

    if (!bytes)
        return -1;
    if (len > H2_MAX_SETTINGS * sizeof(numbers)) {
        JS_ThrowRangeError(ctx, "too many settings");
        return -1;
    }
    for (size_t i = 0; i < len / sizeof(numbers); i++) {
        memcpy(numbers, bytes + i * sizeof(numbers), sizeof(numbers));
        entries[i] = (nghttp2_settings_entry){ numbers[0], numbers[1] };
    }
    return len / sizeof(numbers);
}

/* h2Settings(state, pairs): sends SETTINGS */
LIBRARY_NATIVE(h2_settings)
{
    nghttp2_settings_entry entries[H2_MAX_SETTINGS];
    H2Session *s = h2_get(ctx, argv[0]);
    int count = s ? h2_settings_of(ctx, argv[1], entries) : -1;
    return count < 0 ? JS_EXCEPTION
                     : h2_result(ctx, nghttp2_submit_settings(s->session, NGHTTP2_FLAG_NONE, entries, count));
}

/* h2PackSettings(pairs): returns the payload of a SETTINGS frame as an ArrayBuffer, or undefined if
   a value is invalid */
LIBRARY_NATIVE(h2_pack_settings)
{
    nghttp2_settings_entry entries[H2_MAX_SETTINGS];
    uint8_t payload[H2_MAX_SETTINGS * 6]; /* a setting has 6 bytes */
    int count = h2_settings_of(ctx, argv[0], entries);
    nghttp2_ssize len = count < 0 ? 0 : nghttp2_pack_settings_payload2(payload, sizeof(payload), entries, count);
    if (count < 0)
        return JS_EXCEPTION;
    return len < 0 ? JS_UNDEFINED : h2_bytes(ctx, payload, len);
}

/* h2GetSetting(state, isLocal, identifier): returns a setting of this side or of the peer */
LIBRARY_NATIVE(h2_get_setting)
{
    int64_t v[2];
    H2Session *s = h2_integers(ctx, argv, 2, v);
    if (!s)
        return JS_EXCEPTION;
    return JS_NewUint32(ctx, (v[0] ? nghttp2_session_get_local_settings : nghttp2_session_get_remote_settings)(s->session, v[1]));
}

/* h2AltSvc(state, id, origin, value): sends ALTSVC. The texts are Uint8Arrays. */
LIBRARY_NATIVE(h2_altsvc)
{
    int64_t id;
    H2Session *s = h2_integers(ctx, argv, 1, &id);
    size_t origin_len, value_len;
    uint8_t *origin = s ? library_bytes(ctx, argv[2], &origin_len) : NULL;
    uint8_t *value = origin ? library_bytes(ctx, argv[3], &value_len) : NULL;

    if (!value)
        return JS_EXCEPTION;
    return h2_result(ctx, nghttp2_submit_altsvc(s->session, NGHTTP2_FLAG_NONE, id, origin, origin_len, value, value_len));
}

/* h2Origin(state, text, count): sends ORIGIN with `count` origins. A NUL follows each origin. */
LIBRARY_NATIVE(h2_origin)
{
    H2Session *s = h2_get(ctx, argv[0]);
    uint32_t count, n = 0;
    size_t len;
    uint8_t *bytes = s ? library_bytes(ctx, argv[1], &len) : NULL, *at, *text;
    nghttp2_origin_entry *origins;
    int result;

    if (!bytes || JS_ToUint32(ctx, &count, argv[2]))
        return JS_EXCEPTION;
    if (count > len)
        count = len;
    origins = malloc((count + 1) * sizeof(*origins) + len + 1);
    if (!origins)
        return JS_ThrowOutOfMemory(ctx);
    text = (uint8_t *)(origins + count + 1);
    memcpy(text, bytes, len);
    text[len] = 0;
    for (at = text; at < text + len && n < count; at += origins[n++].origin_len + 1)
        origins[n] = (nghttp2_origin_entry){ at, strlen((char *)at) };
    result = nghttp2_submit_origin(s->session, NGHTTP2_FLAG_NONE, origins, n);
    free(origins);
    return h2_result(ctx, result);
}

/* h2SetNextStreamId(state, id): returns whether the number is possible */
LIBRARY_NATIVE(h2_set_next_stream_id)
{
    int64_t id;
    H2Session *s = h2_integers(ctx, argv, 1, &id);
    return s ? JS_NewBool(ctx, nghttp2_session_set_next_stream_id(s->session, id) == 0) : JS_EXCEPTION;
}

/* h2SetLocalWindow(state, bytes): sets the window of the connection */
LIBRARY_NATIVE(h2_set_local_window)
{
    int64_t bytes;
    H2Session *s = h2_integers(ctx, argv, 1, &bytes);
    return s ? h2_result(ctx, nghttp2_session_set_local_window_size(s->session, NGHTTP2_FLAG_NONE, 0, bytes)) : JS_EXCEPTION;
}

/* h2WantsRead(state), h2WantsWrite(state) */
LIBRARY_NATIVE(h2_wants_read)
{
    H2Session *s = h2_get(ctx, argv[0]);
    return s ? JS_NewBool(ctx, nghttp2_session_want_read(s->session)) : JS_EXCEPTION;
}
LIBRARY_NATIVE(h2_wants_write)
{
    H2Session *s = h2_get(ctx, argv[0]);
    return s ? JS_NewBool(ctx, nghttp2_session_want_write(s->session)) : JS_EXCEPTION;
}

static JSValue h2_numbers(JSContext *ctx, const double *numbers, uint32_t count)
{
    JSValue array = JS_NewArray(ctx);
    for (uint32_t i = 0; i < count && !JS_IsException(array); i++)
        h2_put(ctx, array, i, JS_NewFloat64(ctx, numbers[i]));
    return array;
}

/* h2State(state): returns the numbers of Node's `sessionState`, in Node's order */
LIBRARY_NATIVE(h2_state)
{
    H2Session *s = h2_get(ctx, argv[0]);
    nghttp2_session *n = s ? s->session : NULL;
    if (!n)
        return JS_EXCEPTION;
    double numbers[] = {
        nghttp2_session_get_effective_local_window_size(n), nghttp2_session_get_effective_recv_data_length(n),
        nghttp2_session_get_next_stream_id(n), nghttp2_session_get_local_window_size(n),
        nghttp2_session_get_last_proc_stream_id(n), nghttp2_session_get_remote_window_size(n),
        nghttp2_session_get_outbound_queue_size(n), nghttp2_session_get_hd_deflate_dynamic_table_size(n),
        nghttp2_session_get_hd_inflate_dynamic_table_size(n),
    };
    return h2_numbers(ctx, numbers, sizeof(numbers) / sizeof(*numbers));
}

/* h2StreamState(state, id): returns the numbers of Node's `streamState`, in Node's order */
LIBRARY_NATIVE(h2_stream_state)
{
    int64_t id;
    H2Session *s = h2_integers(ctx, argv, 1, &id);
    if (!s)
        return JS_EXCEPTION;
    double numbers[6] = { NGHTTP2_STREAM_STATE_IDLE };
    nghttp2_stream *stream = nghttp2_session_find_stream(s->session, id);
    if (stream) {
        numbers[0] = nghttp2_stream_get_state(stream);
        numbers[1] = nghttp2_stream_get_weight(stream);
        numbers[2] = nghttp2_stream_get_sum_dependency_weight(stream);
        numbers[3] = nghttp2_session_get_stream_local_close(s->session, id);
        numbers[4] = nghttp2_session_get_stream_remote_close(s->session, id);
        numbers[5] = nghttp2_session_get_stream_local_window_size(s->session, id);
    }
    return h2_numbers(ctx, numbers, sizeof(numbers) / sizeof(*numbers));
}

/* h2Frames(state): returns the numbers of received and of sent frames */
LIBRARY_NATIVE(h2_frames)
{
    H2Session *s = h2_get(ctx, argv[0]);
    double numbers[2] = { s ? s->frames_received : 0, s ? s->frames_sent : 0 };
    return s ? h2_numbers(ctx, numbers, 2) : JS_EXCEPTION;
}

/* h2ErrorString(code): returns nghttp2's text for a negative error code */
LIBRARY_NATIVE(h2_error_string)
{
    int32_t code;
    if (JS_ToInt32(ctx, &code, argv[0]))
        return JS_EXCEPTION;
    return JS_NewString(ctx, nghttp2_strerror(code));
}

static const LibraryNative http2_natives[] = {
    { "h2New", h2_new, 3 },
    { "h2Receive", h2_receive, 4 },
    { "h2Send", h2_send, 2 },
    { "h2IsBusy", h2_is_busy, 1 },
    { "h2Append", h2_append, 2 },
    { "h2Submit", h2_submit, 6 },
    { "h2End", h2_end, 2 },
    { "h2Reset", h2_reset, 3 },
    { "h2Resume", h2_resume, 2 },
    { "h2Consume", h2_consume, 3 },
    { "h2Goaway", h2_goaway, 4 },
    { "h2Terminate", h2_terminate, 2 },
    { "h2Ping", h2_ping, 2 },
    { "h2Settings", h2_settings, 2 },
    { "h2PackSettings", h2_pack_settings, 1 },
    { "h2GetSetting", h2_get_setting, 3 },
    { "h2AltSvc", h2_altsvc, 4 },
    { "h2Origin", h2_origin, 3 },
    { "h2SetNextStreamId", h2_set_next_stream_id, 2 },
    { "h2SetLocalWindow", h2_set_local_window, 2 },
    { "h2WantsRead", h2_wants_read, 1 },
    { "h2WantsWrite", h2_wants_write, 1 },
    { "h2State", h2_state, 1 },
    { "h2StreamState", h2_stream_state, 2 },
    { "h2Frames", h2_frames, 1 },
    { "h2ErrorString", h2_error_string, 1 },
};
