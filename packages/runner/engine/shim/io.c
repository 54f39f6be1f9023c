/* Descriptors, clocks and entropy: the plain imports. A write that the sidecar cannot accept yet
   blocks only this VM, in `wait_writable`. */

/* Writes all bytes, and blocks this VM while the sidecar cannot accept bytes. Between two writes
   other programs run. Returns 0, or a negative errno. */
static int cf_write_all(int fd, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    while (len) {
        int32_t n = host_write(fd, p, len);
        if (n == -HOST_EAGAIN)
            n = host_wait_writable(fd);
        if (n < 0)
            return n;
        p += n;
        len -= n;
        if (len && cf_image.booted && host_poll())
            break; /* stopped: the engine's own poll unwinds */
    }
    return 0;
}

/* write(fd, data): writes a text or a view and blocks this VM. Returns the number of bytes, or a
   negative errno. */
NATIVE(cf_write)
{
    int fd, result;
    uint8_t *p;
    size_t n;

    if (JS_ToInt32(ctx, &fd, argv[0]))
        return JS_EXCEPTION;
    if (JS_IsObject(argv[1])) {
        if (cf_view(ctx, argv[1], &p, &n))
            return JS_EXCEPTION;
        result = cf_write_all(fd, p, n);
    } else {
        JSValue string = cf_flat_string(ctx, argv[1]);
        if (JS_IsException(string))
            return string;
        JSString *s = JS_VALUE_GET_STRING(string);
        n = cf_utf8_length(s);
        if (!s->is_wide_char && n == s->len) { /* ASCII is written in place */
            result = cf_write_all(fd, str8(s), n);
        } else {
            p = js_malloc(ctx, n);
            if (!p) {
                JS_FreeValue(ctx, string);
                return JS_EXCEPTION;
            }
            cf_write_utf8(s, p, n, NULL);
            result = cf_write_all(fd, p, n);
            js_free(ctx, p);
        }
        JS_FreeValue(ctx, string);
    }
    return result < 0 ? js_int32(result) : js_int64(n);
}

/* Reads the arguments fd, view, offset and length, and checks the range. */
static int cf_fd_range(JSContext *ctx, JSValueConst *argv, int *fd, uint8_t **bytes, size_t *len)
{
    int64_t offset, length;
    if (JS_ToInt32(ctx, fd, argv[0]) || cf_clamped(ctx, &offset, argv[2], 0, 0, INT64_MAX) ||
        cf_clamped(ctx, &length, argv[3], INT64_MAX, 0, INT64_MAX) || cf_view(ctx, argv[1], bytes, len))
        return -1;
    if (offset > (int64_t)*len)
        offset = *len;
    *bytes += offset;
    *len -= offset;
    if (length < (int64_t)*len)
        *len = length;
    return 0;
}

/* writeSome(fd, view, offset, length): tries one write and does not wait. Returns the number of
   bytes, or a negative errno. */
NATIVE(cf_write_some)
{
    int fd;
    uint8_t *p;
    size_t n;
    if (cf_fd_range(ctx, argv, &fd, &p, &n))
        return JS_EXCEPTION;
    return js_int32(n ? host_write(fd, p, n) : 0);
}

/* readSome(fd, view, offset, length): tries one read and does not wait. Returns the number of
   bytes, or a negative errno. */
NATIVE(cf_read_some)
{
    int fd;
    uint8_t *p;
    size_t n;
    if (cf_fd_range(ctx, argv, &fd, &p, &n))
        return JS_EXCEPTION;
    return js_int32(n ? host_read(fd, p, n) : 0);
}

/* read(fd, view, offset, length): blocks this VM until bytes are available. Returns the number
   of bytes, 0 at the end of the input, or a negative errno. */
NATIVE(cf_read)
{
    int fd;
    uint8_t *p;
    size_t n;
    if (cf_fd_range(ctx, argv, &fd, &p, &n))
        return JS_EXCEPTION;
    while (n) {
        int32_t got = host_read(fd, p, n);
        if (got != -HOST_EAGAIN)
            return js_int32(got);
        got = host_wait_readable(fd);
        if (got < 0)
            return js_int32(got);
    }
    return js_int32(0);
}

/* clock(id): returns the time of a clock in milliseconds */
NATIVE(cf_clock)
{
    int id;
    if (JS_ToInt32(ctx, &id, argv[0]))
        return JS_EXCEPTION;
    return js_float64((double)host_clock(id == CF_CLOCK_WALL ? CF_CLOCK_WALL : CF_CLOCK_MONOTONIC) / 1e6);
}

NATIVE(cf_clock_ns)
{
    int id;
    if (JS_ToInt32(ctx, &id, argv[0]))
        return JS_EXCEPTION;
    return js_float64((double)host_clock(id == CF_CLOCK_WALL ? CF_CLOCK_WALL : CF_CLOCK_MONOTONIC));
}

/* hrtime(Uint32Array(3)): writes the high and low half of the seconds, and the nanoseconds */
NATIVE(cf_hrtime)
{
    uint8_t *p;
    size_t n;
    uint64_t ns = host_clock(CF_CLOCK_MONOTONIC), seconds = ns / 1000000000;
    uint32_t parts[3] = { seconds >> 32, (uint32_t)seconds, (uint32_t)(ns % 1000000000) };
    if (cf_view(ctx, argv[0], &p, &n))
        return JS_EXCEPTION;
    if (n < sizeof(parts))
        return JS_ThrowRangeError(ctx, "hrtime: the view is too short");
    memcpy(p, parts, sizeof(parts));
    return JS_UNDEFINED;
}

NATIVE(cf_hrtime_bigint)
{
    uint8_t *p;
    size_t n;
    uint64_t ns = host_clock(CF_CLOCK_MONOTONIC);
    if (cf_view(ctx, argv[0], &p, &n))
        return JS_EXCEPTION;
    if (n < sizeof(ns))
        return JS_ThrowRangeError(ctx, "hrtimeBigInt: the view is too short");
    memcpy(p, &ns, sizeof(ns));
    return JS_UNDEFINED;
}

NATIVE(cf_random)
{
    uint8_t *p;
    size_t n;
    if (cf_view(ctx, argv[0], &p, &n))
        return JS_EXCEPTION;
    if (n)
        host_random(p, n);
    return js_dup(argv[0]);
}

NATIVE(cf_gc)
{
    JS_RunGC(ctx->rt);
    return JS_UNDEFINED;
}

NATIVE(cf_memory_usage)
{
    JSValue usage = JS_NewObject(ctx);
    if (JS_IsException(usage))
        return usage;
    double total = (double)__builtin_wasm_memory_size(0) * 65536;
    JS_SetPropertyStr(ctx, usage, "rss", js_float64(total));
    JS_SetPropertyStr(ctx, usage, "heapTotal", js_float64((double)cf_heap_total()));
    JS_SetPropertyStr(ctx, usage, "heapUsed", js_float64((double)cf_heap_used()));
    JS_SetPropertyStr(ctx, usage, "external", js_float64(0));
    JS_SetPropertyStr(ctx, usage, "arrayBuffers", js_float64(0));
    return usage;
}

/* memoryDetails(): returns the uses of the engine's heap, for work on the image's size */
NATIVE(cf_memory_details)
{
    JSMemoryUsage u;
    JSValue details = JS_NewObject(ctx);
    if (JS_IsException(details))
        return details;
    JS_ComputeMemoryUsage(ctx->rt, &u);
    const struct { const char *name; int64_t value; } fields[] = {
        { "malloced", u.malloc_size }, { "blocks", u.malloc_count }, { "used", u.memory_used_size },
        { "atoms", u.atom_size }, { "atomCount", u.atom_count }, { "strings", u.str_size },
        { "stringCount", u.str_count }, { "objects", u.obj_size }, { "objectCount", u.obj_count },
        { "properties", u.prop_size }, { "propertyCount", u.prop_count }, { "shapes", u.shape_size },
        { "shapeCount", u.shape_count }, { "functions", u.js_func_size }, { "functionCount", u.js_func_count },
        { "bytecode", u.js_func_code_size }, { "lineTables", u.js_func_pc2line_size },
        { "lineTableCount", u.js_func_pc2line_count }, { "cFunctions", u.c_func_count }, { "arrays", u.array_count },
        { "fastArrayElements", u.fast_array_elements }, { "binaryObjects", u.binary_object_size },
    };
    for (size_t i = 0; i < countof(fields); i++)
        JS_SetPropertyStr(ctx, details, fields[i].name, js_float64((double)fields[i].value));
    return details;
}
