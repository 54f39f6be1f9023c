/* Local time. TZ names the zone; without TZ the zone is UTC. The kernel returns the offsets. The
   bootstrap makes the names of zones. */

enum { ZONE_BIAS = 200000 };

static CfText cf_zone;        /* points into the environment's table; NULL is UTC */
static bool cf_zone_known;    /* TZ was read after the last change of the environment */

/* Clears the zone, because the environment has changed. */
static void cf_zone_reset(void)
{
    cf_zone_known = false;
}

/* Queries the kernel. Returns (offset + ZONE_BIAS) * 2, plus 1 in summer. An unknown zone is
   UTC, as in ICU. */
static int64_t cf_zone_ask(int64_t ms, bool is_local)
{
    int64_t answer;
    if (!cf_zone_known) {
        CfEnvEntry *entry = cf_env_load(cf_image.ctx) ? NULL : cf_env_find("TZ", 2);
        cf_zone = entry && !entry->deleted ? entry->value : (CfText){ NULL, 0 };
        if (cf_zone.len && *cf_zone.bytes == ':')
            cf_zone = (CfText){ cf_zone.bytes + 1, cf_zone.len - 1 };
        if (cf_zone.len == 3 && !memcmp(cf_zone.bytes, "UTC", 3))
            cf_zone = (CfText){ NULL, 0 };
        cf_zone_known = true;
    }
    answer = cf_zone.len ? host_sys(CF_SYS_ZONE_OFFSET, (uintptr_t)cf_zone.bytes, cf_zone.len, ms, is_local, 0, 0, 0, 0) : -1;
    return answer < 0 ? ZONE_BIAS * 2 : answer;
}

static int32_t cf_zone_offset(int64_t ms, bool is_local)
{
    return (int32_t)(cf_zone_ask(ms, is_local) / 2) - ZONE_BIAS;
}

/* Returns `text`, followed by the zone's name in parentheses. */
static JSValue cf_zone_append(JSContext *ctx, JSValueConst date, const char *text, size_t len)
{
    double ms;
    JSValue name = JS_UNDEFINED, head, tail;

    if (JS_ThisTimeValue(ctx, &ms, date))
        return JS_EXCEPTION;
    int64_t answer = cf_zone_ask((int64_t)ms, false);
    if (cf_zone.bytes && JS_IsFunction(ctx, cf_image.zone_names)) {
        JSValue zone = cf_text_value(ctx, cf_zone);
        JSValueConst args[3] = { zone, js_int32((int32_t)(answer / 2) - ZONE_BIAS), js_bool(answer & 1) };
        name = JS_IsException(zone) ? zone : JS_Call(ctx, cf_image.zone_names, JS_UNDEFINED, 3, args);
        JS_FreeValue(ctx, zone);
        if (JS_IsException(name))
            return name;
    }
    head = js_new_string8_len(ctx, text, len);
    if (JS_IsString(name))
        tail = JS_ConcatString3(ctx, " (", name, ")");
    else
        tail = js_new_string8(ctx, " (Coordinated Universal Time)");
    return JS_ConcatString(ctx, head, tail);
}

/* setZoneNames((zone, offset, isSummer) => name): sets the function that returns a zone's name */
NATIVE(cf_set_zone_names)
{
    set_value(ctx, &cf_image.zone_names, js_dup(argv[0]));
    return JS_UNDEFINED;
}

/* zoneOffset(zone, ms, isLocal): returns the seconds east of UTC, or undefined for an unknown
   zone */
NATIVE(cf_native_zone_offset)
{
    double ms;
    int64_t answer;
    size_t len;
    const char *zone;

    if (JS_ToFloat64(ctx, &ms, argv[1]))
        return JS_EXCEPTION;
    int is_local = JS_ToBool(ctx, argv[2]);
    if (!(zone = JS_ToCStringLen(ctx, &len, argv[0])))
        return JS_EXCEPTION;
    answer = host_sys(CF_SYS_ZONE_OFFSET, (uintptr_t)zone, len, (int64_t)ms, is_local, 0, 0, 0, 0);
    JS_FreeCString(ctx, zone);
    return answer < 0 ? JS_UNDEFINED : js_int32((int32_t)(answer / 2) - ZONE_BIAS);
}
