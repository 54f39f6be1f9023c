export default {
  title: 'a stop that nothing can swallow',
  why: `The host stops a guest through the interrupt handler, process.exit unwinds the same way. The error is one object made at image build (making
one costs an allocation and a stack trace, at a moment when memory may be gone), and while a stop is pending every poll
throws again: a promise, an iterator's return method or a C function that discards an error cannot keep the program alive.`,
  edits: [
    {
      file: 'quickjs.c',
      find: /static void JS_ThrowInterrupted\(JSContext \*ctx\)\n\{[\s\S]*?\n\}\n/g,
      replace: `/* in the shim: throws the stop error; the next poll comes at once */
static void cf_throw_stop(JSContext *ctx);

static void JS_ThrowInterrupted(JSContext *ctx)
{
    cf_throw_stop(ctx);
}
`,
    },
    // a failed reaction of an async function during a stop or without memory is no bug of the engine
    {
      file: 'quickjs.c',
      find: `                if (JS_IsUncatchableError(ctx->rt->current_exception)) {
                    is_success = false;
                } else {
                    abort(); /* BUG */
                }`,
      replace: '                is_success = false;',
    },
  ],
};
