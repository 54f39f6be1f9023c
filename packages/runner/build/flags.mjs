// The compiler and linker flags of the guest, with their reasons. Next: compile.mjs.

/**
 * Flags for every file. The flags select a reactor for WASI's libc, and vector instructions. The
 * module must not contain instructions that wasmtime executes with its own memcpy
 * (engine/shim/memory.c has the reason). Assertions of the engine are off, because the sandbox does
 * not rely on assertions, and assertions make the engine 10 % slower.
 */
export const COMMON = [
  '--target=wasm32-wasip1',
  '-O2',
  '-DNDEBUG',
  '-D_GNU_SOURCE',
  '-fno-strict-aliasing',
  '-msimd128',
  '-mno-bulk-memory',
  '-mno-bulk-memory-opt',
  '-Isrc',
  '-Ishim',
];

/** Hides warnings about the engine's own code, which the project does not fix. */
const QUIET = ['-w'];
const STRICT = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', '-Wno-sign-compare', '-Wno-missing-field-initializers'];

/**
 * Removes the checks of pointers in the sanitized guest. The checks of pointers make an object up
 * to 12 times as large. The engine with the checks of pointers did not compile in 5 minutes.
 */
export const VALUES_ONLY = ['-fno-sanitize=null,alignment,object-size,pointer-overflow'];

/** The compilation units: object name, source, flags, and more flags for the sanitized guest. */
export const UNITS = [
  { name: 'engine', source: 'shim/engine.c', flags: [...COMMON, ...QUIET], sanitized: ['-O1', ...VALUES_ONLY] },
  { name: 'libregexp', source: 'src/libregexp.c', flags: [...COMMON, ...QUIET] },
  { name: 'libunicode', source: 'src/libunicode.c', flags: [...COMMON, ...QUIET] },
  { name: 'dtoa', source: 'src/dtoa.c', flags: [...COMMON, ...QUIET] },
  { name: 'alloc', source: 'shim/alloc.c', flags: [...COMMON, ...STRICT] },
  { name: 'codecs', source: 'shim/codecs.c', flags: [...COMMON, ...STRICT] },
  { name: 'unicode', source: 'shim/unicode.c', flags: [...COMMON, ...STRICT] },
  { name: 'format', source: 'shim/format.c', flags: [...COMMON, ...STRICT, '-fno-builtin'] },
  { name: 'libc', source: 'shim/libc.c', flags: [...COMMON, ...STRICT] },
  {
    name: 'libraries',
    source: 'shim/libraries.c',
    flags: [
      ...COMMON,
      ...STRICT,
      '-Ilib/ada',
      '-Ilib/brotli/include',
      '-Ilib/llhttp',
      '-Ilib/zlib',
      '-Ilib/merve',
      '-Ilib/nghttp2/includes',
      '-DNGHTTP2_STATICLIB',
      '-Ilib/zstd',
      '-DZ_SOLO',
      '-Wno-unused-function',
      '-Wno-unused-but-set-variable',
      '-Wno-unused-variable',
      '-Wno-sign-compare',
      '-Wno-parentheses',
      '-Wno-unused-label',
    ],
  },
  { name: 'memory', source: 'shim/memory.c', flags: [...COMMON, ...STRICT, '-fno-builtin'] },
];

/**
 * Names are kept for the image builder, which replaces bulk-memory instructions by calls of
 * `memmove` and `memset`, and then drops the names. The stack is at the lowest addresses. An
 * overflow that the engine's check misses therefore traps below address 0 and cannot overwrite
 * data.
 */
export const LINK = [
  '--target=wasm32-wasip1',
  '-mexec-model=reactor',
  '-lm',
  '-Wl,--stack-first',
  '-Wl,-z,stack-size=4194304',
  '-Wl,--max-memory=2147483648',
];

/**
 * Flags of the sanitized guest, for every file. Each undefined behaviour calls a function of
 * shim/sanitizer.c, which reports the place and ends the guest. The check `function` is absent,
 * because WebAssembly itself checks the type of an indirect call. Assertions of the engine are on.
 */
export const SANITIZE = ['-fsanitize=undefined', '-fno-sanitize=function'];

/**
 * Returns the unit of the sanitized guest that the checks call. The checks cannot check this unit.
 */
export const sanitizerUnit = (continues = false) => ({
  name: 'sanitizer',
  source: 'shim/sanitizer.c',
  flags: [...COMMON, ...STRICT, ...(continues ? ['-DCF_SANITIZER_CONTINUES'] : [])],
});
