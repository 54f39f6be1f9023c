/* ada: URLs as Node parses them. A parsed URL lives only for one call: Node's library keeps the
   text and the offsets of its parts. */
#include "ada_c.h"

/* The numbers of the parts in `update` (lib/internal/url.js). */
enum { URL_PROTOCOL, URL_HOST, URL_HOSTNAME, URL_PORT, URL_USERNAME, URL_PASSWORD, URL_PATHNAME, URL_SEARCH, URL_HASH, URL_HREF };

/* Returns a string as UTF-8. The engine writes a lone surrogate as its own three bytes; Node writes
   the replacement character, which has three bytes too. */
static const char *url_text(JSContext *ctx, JSValueConst value, size_t *len)
{
    const char *text = JS_ToCStringLen(ctx, len, value);
    if (!text)
        return NULL;
    for (size_t i = 0; i + 2 < *len; i++)
        if ((uint8_t)text[i] == 0xed && (uint8_t)text[i + 1] >= 0xa0)
            /* `text` is a copy, because only an ASCII string is returned in place */
            memcpy((char *)text + i, "\xef\xbf\xbd", 3);
    return text;
}

/* Returns the URL's text, writes its offsets to the nine numbers of `parts`, and frees the URL. */
static JSValue url_publish(JSContext *ctx, ada_url url, JSValueConst parts)
{
    size_t len;
    uint8_t *to = library_bytes(ctx, parts, &len);
    JSValue href = JS_EXCEPTION;

    if (to && len < 9 * sizeof(uint32_t))
        JS_ThrowRangeError(ctx, "the parts of a URL need nine numbers");
    else if (to) {
        const ada_url_components *c = ada_get_components(url);
        uint32_t numbers[9] = { c->protocol_end, c->username_end, c->host_start, c->host_end, c->port,
                                c->pathname_start, c->search_start, c->hash_start, ada_get_scheme_type(url) };
        ada_string text = ada_get_href(url);
        memcpy(to, numbers, sizeof(numbers));
        href = JS_NewStringLen(ctx, text.data, text.length);
    }
    ada_free(url);
    return href;
}

/* Parses a URL, relative to `base` if given. `*out` is NULL if the text is no URL. Returns -1
   with an exception. */
static int url_parse_text(JSContext *ctx, JSValueConst input, JSValueConst base, ada_url *out)
{
    size_t len, base_len = 0;
    const char *text = url_text(ctx, input, &len), *base_text = NULL;
    if (!text)
        return -1;
    if (!JS_IsUndefined(base) && !(base_text = url_text(ctx, base, &base_len))) {
        JS_FreeCString(ctx, text);
        return -1;
    }
    *out = base_text ? ada_parse_with_base(text, len, base_text, base_len) : ada_parse(text, len);
    if (*out && !ada_is_valid(*out)) {
        ada_free(*out);
        *out = NULL;
    }
    JS_FreeCString(ctx, text);
    if (base_text)
        JS_FreeCString(ctx, base_text);
    return 0;
}

/* urlParse(input, base, parts): returns the URL's text, or undefined */
LIBRARY_NATIVE(url_parse)
{
    ada_url url;
    if (url_parse_text(ctx, argv[0], argv[1], &url))
        return JS_EXCEPTION;
    return url ? url_publish(ctx, url, argv[2]) : JS_UNDEFINED;
}

/* urlCanParse(input, base): returns whether the text is a URL */
LIBRARY_NATIVE(url_can_parse)
{
    size_t len, base_len = 0;
    const char *text = url_text(ctx, argv[0], &len), *base = NULL;
    if (!text || (!JS_IsUndefined(argv[1]) && !(base = url_text(ctx, argv[1], &base_len)))) {
        JS_FreeCString(ctx, text);
        return JS_EXCEPTION;
    }
    bool can = base ? ada_can_parse_with_base(text, len, base, base_len) : ada_can_parse(text, len);
    JS_FreeCString(ctx, text);
    JS_FreeCString(ctx, base);
    return JS_NewBool(ctx, can);
}

static bool url_set(ada_url url, int action, const char *text, size_t len)
{
    switch (action) {
    case URL_PROTOCOL: return ada_set_protocol(url, text, len);
    case URL_HOST: return ada_set_host(url, text, len);
    case URL_HOSTNAME: return ada_set_hostname(url, text, len);
    case URL_PORT: return ada_set_port(url, text, len);
    case URL_USERNAME: return ada_set_username(url, text, len);
    case URL_PASSWORD: return ada_set_password(url, text, len);
    case URL_PATHNAME: return ada_set_pathname(url, text, len);
    case URL_SEARCH: ada_set_search(url, text, len); return true;
    case URL_HASH: ada_set_hash(url, text, len); return true;
    case URL_HREF: return ada_set_href(url, text, len);
    default: return false;
    }
}

/* urlUpdate(href, action, value, parts): returns the new text, false if the value is refused, or
   undefined if `href` is no URL */
LIBRARY_NATIVE(url_update)
{
    ada_url url;
    size_t len;
    int32_t action;
    const char *text;

    if (JS_ToInt32(ctx, &action, argv[1]) || url_parse_text(ctx, argv[0], JS_UNDEFINED, &url))
        return JS_EXCEPTION;
    if (!url)
        return JS_UNDEFINED;
    if (!(text = url_text(ctx, argv[2], &len))) {
        ada_free(url);
        return JS_EXCEPTION;
    }
    bool taken = url_set(url, action, text, len);
    JS_FreeCString(ctx, text);
    if (taken)
        return url_publish(ctx, url, argv[3]);
    ada_free(url);
    return JS_FALSE;
}

/* urlTrim(href, keepHash, keepSearch, keepCredentials, parts): returns the text without the
   omitted parts, or undefined if `href` is no URL */
LIBRARY_NATIVE(url_trim)
{
    ada_url url;
    if (url_parse_text(ctx, argv[0], JS_UNDEFINED, &url))
        return JS_EXCEPTION;
    if (!url)
        return JS_UNDEFINED;
    if (!JS_ToBool(ctx, argv[1]))
        ada_clear_hash(url);
    if (!JS_ToBool(ctx, argv[2]))
        ada_clear_search(url);
    if (!JS_ToBool(ctx, argv[3])) {
        ada_set_username(url, "", 0);
        ada_set_password(url, "", 0);
    }
    return url_publish(ctx, url, argv[4]);
}

/* urlHost(name, toUnicode): returns the name as the host of a URL, or an empty text if the name
   cannot be a host */
LIBRARY_NATIVE(url_host)
{
    size_t len;
    const char *text = url_text(ctx, argv[0], &len);
    ada_url url = text ? ada_parse("ws://x", 6) : NULL;
    JSValue result = JS_EXCEPTION;

    if (url) {
        ada_string host = { "", 0 };
        if (ada_set_hostname(url, text, len))
            host = ada_get_hostname(url);
        if (JS_ToBool(ctx, argv[1])) {
            ada_owned_string wide = ada_idna_to_unicode(host.data, host.length);
            result = JS_NewStringLen(ctx, wide.data, wide.length);
            ada_free_owned_string(wide);
        } else {
            result = JS_NewStringLen(ctx, host.data, host.length);
        }
        ada_free(url);
    }
    JS_FreeCString(ctx, text);
    return result;
}

/* idna(name, toUnicode): returns the converted name, or an empty text if the conversion fails */
LIBRARY_NATIVE(url_idna)
{
    size_t len;
    const char *text = url_text(ctx, argv[0], &len);
    if (!text)
        return JS_EXCEPTION;
    ada_owned_string other = JS_ToBool(ctx, argv[1]) ? ada_idna_to_unicode(text, len) : ada_idna_to_ascii(text, len);
    JSValue result = JS_NewStringLen(ctx, other.data ? other.data : "", other.length);
    ada_free_owned_string(other);
    JS_FreeCString(ctx, text);
    return result;
}

/* urlOrigin(input): returns the origin, or undefined if the input is no URL */
LIBRARY_NATIVE(url_origin)
{
    ada_url url;
    if (url_parse_text(ctx, argv[0], JS_UNDEFINED, &url))
        return JS_EXCEPTION;
    if (!url)
        return JS_UNDEFINED;
    ada_owned_string origin = ada_get_origin(url);
    JSValue result = JS_NewStringLen(ctx, origin.data, origin.length);
    ada_free_owned_string(origin);
    ada_free(url);
    return result;
}

static const LibraryNative url_natives[] = {
    { "urlParse", url_parse, 3 }, { "urlCanParse", url_can_parse, 2 }, { "urlUpdate", url_update, 4 }, { "urlTrim", url_trim, 5 },
    { "urlHost", url_host, 2 },   { "idna", url_idna, 2 },             { "urlOrigin", url_origin, 1 },
};
