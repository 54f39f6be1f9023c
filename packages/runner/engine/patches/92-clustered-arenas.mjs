export default {
  title: 'small arenas first',
  why: `The engine carves small blocks out of arenas of 4 KiB, one per size class. A short program needs a few blocks of each of twenty classes and
would dirty twenty pages. The first arenas of a class are 1 KiB, so that four classes share a page; later ones are 4 KiB, for speed.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    struct list_head free_arena_list[JS_ARENA_BLOCK_SIZE_COUNT];\n',
      replace:
        '    struct list_head free_arena_list[JS_ARENA_BLOCK_SIZE_COUNT];\n    uint8_t small_arenas[JS_ARENA_BLOCK_SIZE_COUNT]; /* made since the freeze */\n',
    },
    {
      file: 'quickjs.c',
      find: '#define JS_ARENA_SIZE              4096\n',
      replace:
        '#define JS_ARENA_SIZE              4096\n#define JS_SMALL_ARENA_SIZE        1024\n#define JS_SMALL_ARENA_COUNT       4\n',
    },
    {
      file: 'quickjs.c',
      find: '    n_blocks = (JS_ARENA_SIZE - sizeof(JSArena)) / block_size;\n',
      replace: `    n_blocks = (JS_ARENA_SIZE - sizeof(JSArena)) / block_size;
    if (cf_frozen_end && rt->arena_state.small_arenas[block_size_idx] < JS_SMALL_ARENA_COUNT) {
        rt->arena_state.small_arenas[block_size_idx]++;
        n_blocks = (JS_SMALL_ARENA_SIZE - sizeof(JSArena)) / block_size;
    }
`,
    },
  ],
};
