/* The starts of evaluations in a resident program: snippets, cells of a notebook and scripts of a
   shell. Also the end of an evaluation that the sidecar has ended. Next: loop.c. */

/* Starts a cell, or a script of a shell. The hook `cell` returns the text of a module, or the
   promise of the cell's end. */
static void cf_run_cell(JSContext *ctx, CfText source, const char *url)
{
    bool is_typescript = cf.eval_flags & CF_EVAL_TYPE_SCRIPT, is_cell = cf.eval_flags & CF_EVAL_CELL;
    JSValue args[3] = { cf_text_value(ctx, source), js_bool(is_typescript), js_bool(is_cell) };
    JSValue result = JS_UNDEFINED;
    bool ok = !JS_IsException(args[0]);

    if (!ok)
        cf_report_exception(ctx, false);
    else
        ok = cf_call_hook(ctx, HOOK_CELL, 3, vc(args), &result);
    JS_FreeValue(ctx, args[0]);
    if (!ok) {
        cf.program_done = true;
        return;
    }
    if (JS_IsString(result)) {
        CfText module;
        size_t len;
        module.bytes = JS_ToCStringLen(ctx, &len, result);
        module.len = len;
        JS_FreeValue(ctx, result);
        if (!module.bytes) {
            cf.program_done = true;
            cf_report_exception(ctx, false);
            return;
        }
        cf_run_program(ctx, module, url);
        JS_FreeCString(ctx, module.bytes);
        return;
    }
    cf_set_main_promise(ctx, result);
    cf_run_jobs(ctx);
}

static void cf_on_eval(JSContext *ctx, const CfEvent *event, const uint8_t *payload)
{
    /* Numbers this process's snippets as Node numbers the text of -e. The ids of the sidecar are
       independent of these numbers. */
    static uint32_t snippets;
    char url[300];
    const char *place = (const char *)payload + 4, *source = place;
    uint32_t place_count = cf_u32_at((const char *)payload);
    CfText cwd = cf.cwd, next;
    for (uint32_t i = 0; i < place_count; i++) {
        source = cf_next_text(source, &next);
        if (i == 0 && next.len)
            cwd = next;
    }
    uint32_t len = event->len - (uint32_t)(source - (const char *)payload);
    /* The parser needs a NUL after the text. The sidecar pads the text to 8 bytes, which need
       not add a NUL. */
    char *text = js_malloc(ctx, len + 1);

    cf.eval_id = event->id;
    cf.eval_flags = event->result;
    cf_free_return_value(ctx);
    cf.program_done = false;
    cf.state.eval_reason = CF_REASON_NORMAL;
    cf.state.eval_exit_code = 0;
    cf.eval_base_refs = cf_refs();
    if (!text) {
        cf_report_exception(ctx, false);
        return;
    }
    memcpy(text, source, len);
    text[len] = 0;
    snprintf(url, sizeof(url), "file://%s%s[eval%u]", cwd.len < 256 ? cwd.bytes : "",
             cwd.len && cwd.bytes[cwd.len - 1] == '/' ? "" : "/", ++snippets);
    cf_note_eval(ctx, text, len, url);
    /* The hook also removes the place of an evaluation that was interrupted. */
    if (place_count || cf.eval_placed) {
        JSValue texts = cf_texts(ctx, place, place_count);
        cf.eval_placed = place_count > 0;
        if (JS_IsException(texts) || !cf_call_hook(ctx, HOOK_EVAL_PLACE, 1, vc(&texts), NULL)) {
            if (JS_IsException(texts))
                cf_report_exception(ctx, false);
            JS_FreeValue(ctx, texts);
            cf.program_done = true;
            return;
        }
        JS_FreeValue(ctx, texts);
    }
    if ((cf.eval_flags & CF_EVAL_CELL) || cf_is_shell())
        cf_run_cell(ctx, (CfText){ text, len }, url);
    else
        cf_run_program(ctx, (CfText){ text, len }, url);
}

/* Ends the work of an evaluation that the sidecar has ended. */
static void cf_on_abandon(JSContext *ctx, const CfEvent *event)
{
    if (cf.eval_id && cf.eval_id == event->id) {
        cf.eval_id = 0;
        cf.program_done = true;
        set_value(ctx, &cf.main_promise, JS_UNDEFINED);
        memset(cf.exit_info, 0, sizeof(cf.exit_info));
    }
    if (event->id)
        cf_call_hook(ctx, HOOK_ABANDON, 0, NULL, NULL);
}
