/* The unpatched engine, for comparison: none of our patches, none of the shim's natives, the
   smallest set of globals that the tests need. A runtime lives as long as the instance; a test
   restores a copy of the memory between programs. Next: test/engine/reference-guest.mjs, which runs
   this engine. */
#include "quickjs.h"
#include "host.h"
#include <stdlib.h>
#include <string.h>

CF_IMPORT(load) int32_t host_load(const char *name, uint32_t name_len, void *buf, uint32_t cap);

static JSContext *ctx;

static JSValue ref_print(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    for (int i = 0; i < argc; i++) {
        size_t len;
        const char *text = JS_ToCStringLen(ctx, &len, argv[i]);
        if (!text)
            return JS_EXCEPTION;
        if (i)
            host_write(1, " ", 1);
        host_write(1, text, len);
        JS_FreeCString(ctx, text);
    }
    host_write(1, "\n", 1);
    return JS_UNDEFINED;
}

static JSValue ref_eval_script(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    size_t len;
    JSValue result;
    const char *source = JS_ToCStringLen(ctx, &len, argv[0]);
    const char *name = source ? JS_ToCString(ctx, argv[1]) : NULL;
    result = name ? JS_Eval(ctx, source, len, name, JS_EVAL_TYPE_GLOBAL) : JS_EXCEPTION;
    JS_FreeCString(ctx, name);
    JS_FreeCString(ctx, source);
    return result;
}

static JSValue ref_gc(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    JS_RunGC(JS_GetRuntime(ctx));
    return JS_UNDEFINED;
}

static char *read_file(const char *name, int32_t *len)
{
    int32_t size = host_load(name, strlen(name), NULL, 0);
    char *text = size < 0 ? NULL : malloc(size + 1);
    if (!text)
        return NULL;
    host_load(name, strlen(name), text, size);
    text[size] = 0;
    *len = size;
    return text;
}

static JSValue ref_load_file(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    int32_t len;
    const char *name = JS_ToCString(ctx, argv[0]);
    char *text = name ? read_file(name, &len) : NULL;
    JSValue result = !name ? JS_EXCEPTION : text ? JS_NewStringLen(ctx, text, len) : JS_NULL;
    free(text);
    JS_FreeCString(ctx, name);
    return result;
}

static JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque)
{
    int32_t len;
    char *text = read_file(name, &len);
    JSValue module;

    if (!text) {
        JS_ThrowReferenceError(ctx, "could not load module '%s'", name);
        return NULL;
    }
    module = JS_Eval(ctx, text, len, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
    free(text);
    if (JS_IsException(module))
        return NULL;
    JSModuleDef *m = JS_VALUE_GET_PTR(module);
    JS_FreeValue(ctx, module); /* the context holds the module */
    return m;
}

static void define(const char *name, JSCFunction *function)
{
    JSValue global = JS_GetGlobalObject(ctx);
    JS_SetPropertyStr(ctx, global, name, JS_NewCFunction(ctx, function, name, 1));
    JS_FreeValue(ctx, global);
}

/* Prints "Name: message" of the last thrown value and its stack on fd 2. */
static int report(void)
{
    JSValue error = JS_GetException(ctx);
    const char *text = JS_ToCString(ctx, error);
    host_write(2, "Uncaught ", 9);
    if (text)
        host_write(2, text, strlen(text));
    else
        JS_FreeValue(ctx, JS_GetException(ctx));
    host_write(2, "\n", 1);
    JS_FreeCString(ctx, text);
    if (JS_IsObject(error)) {
        JSValue stack = JS_GetPropertyStr(ctx, error, "stack");
        text = JS_IsString(stack) ? JS_ToCString(ctx, stack) : NULL;
        if (text)
            host_write(2, text, strlen(text));
        JS_FreeCString(ctx, text);
        JS_FreeValue(ctx, stack);
    }
    JS_FreeValue(ctx, error);
    return 1;
}

CF_EXPORT(ref_boot) void ref_boot(void)
{
    JSRuntime *rt = JS_NewRuntime();
    ctx = JS_NewContext(rt);
    JS_SetModuleLoaderFunc(rt, NULL, load_module, NULL);
    define("print", ref_print);
    define("__evalScript", ref_eval_script);
    define("__loadFile", ref_load_file);
    define("gc", ref_gc);
}

CF_EXPORT(ref_alloc) void *ref_alloc(uint32_t len)
{
    return malloc(len);
}

CF_EXPORT(ref_free) void ref_free(void *block)
{
    free(block);
}

/* Runs a script or a module, and jobs until there are none. A NUL follows the text. Returns 0, or 1
   after an exception. */
CF_EXPORT(ref_run) int32_t ref_run(const char *source, uint32_t len, const char *name, int32_t is_module)
{
    JSContext *job;
    int failed = 0, state;
    JSValue result = JS_Eval(ctx, source, len, name, is_module ? JS_EVAL_TYPE_MODULE : JS_EVAL_TYPE_GLOBAL);

    if (JS_IsException(result))
        return report();
    while ((state = JS_ExecutePendingJob(JS_GetRuntime(ctx), &job)) != 0)
        if (state < 0)
            failed |= report();
    if (is_module && JS_PromiseState(ctx, result) == JS_PROMISE_REJECTED) {
        JS_Throw(ctx, JS_PromiseResult(ctx, result));
        failed |= report();
    }
    JS_FreeValue(ctx, result);
    return failed;
}
