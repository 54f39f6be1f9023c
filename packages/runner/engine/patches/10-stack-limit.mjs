export default {
  title: 'a stack limit under WASI',
  why: `The engine compiles its stack checks out for WASI, so that deep recursion ends in a trap and leaves a broken VM. Our C stack is
a region of linear memory that grows down to address 0, so the engine's own check works as it does natively: deep recursion is a
RangeError that a program can catch. But a function whose variables all fit into wasm locals uses none of that region, and could recurse until
the host's stack overflows; so every function that checks takes at least 128 bytes of it. The host's wasm stack (32 MiB) then is never the first.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '#ifdef __wasi__\n    rt->stack_size = 0;\n#endif\n',
      replace: '',
    },
    {
      file: 'quickjs.c',
      find: '#if defined(__wasi__)\n    rt->stack_limit = 0; /* no limit */\n#else\n    if (rt->stack_size == 0) {',
      replace: '    if (rt->stack_size == 0) {',
    },
    {
      file: 'quickjs.c',
      find: '        rt->stack_limit = rt->stack_top - rt->stack_size;\n    }\n#endif\n',
      replace: '        rt->stack_limit = rt->stack_top - rt->stack_size;\n    }\n',
    },
    {
      file: 'quickjs.c',
      find: 'static inline bool js_check_stack_overflow(JSRuntime *rt, size_t alloca_size)\n{\n    uintptr_t sp;\n    sp = js_get_stack_pointer() - alloca_size;\n    return unlikely(sp < rt->stack_limit);\n}\n',
      replace: `static inline bool js_is_below_stack_limit(JSRuntime *rt, uintptr_t sp, size_t alloca_size)
{
    return unlikely(sp - alloca_size < rt->stack_limit);
}

/* takes \`bytes\` of the C stack for as long as the function runs */
#define js_check_stack_taking(rt, bytes, alloca_size) ({ \\
    char stack_per_call_[bytes]; \\
    __asm__ volatile("" : : "r"(stack_per_call_) : "memory"); \\
    js_is_below_stack_limit(rt, (uintptr_t)stack_per_call_, alloca_size); })
#define js_check_stack_overflow(rt, alloca_size) js_check_stack_taking(rt, 128, alloca_size)

/* for the parser: one level of nesting is up to twenty calls that do not check */
#define js_check_parser_stack(s, bytes) \\
    if (js_check_stack_taking((s)->ctx->rt, bytes, 0)) { \\
        JS_ThrowStackOverflow((s)->ctx); \\
        return -1; \\
    }
`,
    },
    // the interpreter's frame is large enough as it is
    {
      file: 'quickjs.c',
      find: /(    alloca_size = sizeof\(JSValue\) \* \(arg_allocated_size \+ b->var_count \+[\s\S]{0,300}?)js_check_stack_overflow\(rt, alloca_size\)/g,
      replace: '$1js_is_below_stack_limit(rt, js_get_stack_pointer(), alloca_size)',
    },
    {
      file: 'libregexp.c',
      find: '#include "libregexp.h"\n',
      replace: `#include "libregexp.h"

/* the same for the recursive functions here */
#define lre_check_stack_overflow(opaque, size) ({ \\
    char stack_per_call_[128]; \\
    __asm__ volatile("" : : "r"(stack_per_call_) : "memory"); \\
    lre_check_stack_overflow(opaque, size); })
`,
    },
    ...[
      ['js_parse_assign_expr2', 1024],
      ['js_parse_postfix_expr', 256],
      ['js_parse_unary', 256],
      ['js_parse_statement_or_decl', 512],
      ['js_parse_destructuring_element', 512],
      ['js_parse_class', 512],
      ['js_parse_function_decl2', 512],
    ].map(([name, bytes]) => ({
      file: 'quickjs.c',
      find: new RegExp(`(\\nstatic (?:__exception )?int ${name}\\([^;{]*\\)\\n\\{\\n(?:    [^\\n]*;[^\\n]*\\n)+)`, 'g'),
      replace: `$1\n    js_check_parser_stack(s, ${bytes})\n`,
    })),
  ],
};
