/* merve: finds the names that a CommonJS module exports without running the module. Node also
   uses merve. */
#include "merve_c.h"

static JSValue merve_names(JSContext *ctx, merve_analysis analysis, size_t count,
                           merve_string (*name)(merve_analysis result, size_t index))
{
    JSValue array = JS_NewArray(ctx);
    for (size_t i = 0; i < count && !JS_IsException(array); i++) {
        merve_string text = name(analysis, i);
        if (JS_DefinePropertyValueUint32(ctx, array, i, JS_NewStringLen(ctx, text.data, text.length), JS_PROP_C_W_E) < 0) {
            JS_FreeValue(ctx, array);
            return JS_EXCEPTION;
        }
    }
    return array;
}

/* parseCommonJs(source): returns [exports, reexports], two empty arrays for a text that the
   lexer rejects */
LIBRARY_NATIVE(merve_parse)
{
    size_t len;
    const char *source = JS_ToCStringLen(ctx, &len, argv[0]);
    merve_analysis analysis;
    JSValue names, reexports, result;

    if (!source)
        return JS_EXCEPTION;
    analysis = merve_parse_commonjs(source, len, NULL);
    bool valid = analysis && merve_is_valid(analysis);
    names = merve_names(ctx, analysis, valid ? merve_get_exports_count(analysis) : 0, merve_get_export_name);
    reexports = merve_names(ctx, analysis, valid ? merve_get_reexports_count(analysis) : 0, merve_get_reexport_name);
    if (analysis)
        merve_free(analysis);
    JS_FreeCString(ctx, source);
    result = JS_NewArray(ctx);
    JS_DefinePropertyValueUint32(ctx, result, 0, names, JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, result, 1, reexports, JS_PROP_C_W_E);
    return result;
}

static const LibraryNative merve_natives[] = { { "parseCommonJs", merve_parse, 1 } };
