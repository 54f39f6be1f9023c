export default {
  title: 'a stack limit under WASI',
  why: `The engine compiles its stack checks out for WASI, so that deep recursion ends in a trap and leaves a broken VM. Our C stack is
a region of linear memory that grows down to address 0, so the engine's own check works as it does natively: deep recursion is a
RangeError that a program can catch. The wasm stack of the host must be large enough never to be the first to overflow.`,
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
  ],
};
