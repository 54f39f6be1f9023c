// The compiler and linker flags of the Python guest, with their reasons. Next: units.mjs.

/**
 * Flags for every file. The module must not contain instructions that wasmtime executes with its
 * own memcpy (packages/runner/engine/shim/memory.c has the reason). `-fno-strict-overflow` is
 * CPython's own flag. Warnings about foreign code are hidden.
 */
export const COMMON = [
  '--target=wasm32-wasip1',
  '-O3',
  '-DNDEBUG',
  '-msimd128',
  '-mno-bulk-memory',
  '-mno-bulk-memory-opt',
  '-std=c11',
  '-fno-strict-overflow',
  '-fvisibility=hidden',
  '-w',
];

/**
 * Flags of CPython's own units. `_WASI_EMULATED_*` select the parts of libc that WASI has no call
 * for.
 */
export const PYTHON = [
  ...COMMON,
  '-D_WASI_EMULATED_SIGNAL',
  '-D_WASI_EMULATED_GETPID',
  '-D_WASI_EMULATED_PROCESS_CLOCKS',
  '-DPy_BUILD_CORE',
  '-I.',
  '-IInclude',
  '-IInclude/internal',
  '-IInclude/internal/mimalloc',
];

/**
 * Constants that CPython's Makefile passes to single units. The paths are the paths of the image.
 */
export const UNIT_FLAGS = {
  'Modules/getpath.c': [
    '-DPYTHONPATH=""',
    '-DPREFIX="/usr"',
    '-DEXEC_PREFIX="/usr"',
    '-DVERSION="3.13"',
    '-DVPATH=""',
    '-DPLATLIBDIR="lib"',
    '-DPYTHONFRAMEWORK=""',
  ],
  // The date of the build is fixed, so that equal sources make equal modules.
  'Modules/getbuildinfo.c': ['-DGITVERSION=""', '-DGITTAG=""', '-DGITBRANCH=""', '-DDATE="Jan  1 2000"', '-DTIME="00:00:00"'],
  'Python/dynload_shlib.c': ['-DSOABI="cpython-313-wasm32-wasi"'],
  'Python/sysmodule.c': ['-DABIFLAGS=""', '-DMULTIARCH="wasm32-wasi"'],
  'Python/fileutils.c': ['-DHAVE_DUP'],
  'Python/getplatform.c': ['-DPLATFORM="linux"'],
  'Modules/posixmodule.c': [
    ...[
      'CHMOD CHOWN DUP3 FCHMOD FCHMODAT FCHOWN FCHOWNAT FDOPENDIR FSTATVFS GETEGID GETEUID GETGID GETGROUPS GETPGID GETPGRP',
      'GETPPID GETSID GETUID KILL KILLPG LCHOWN LOCKF PIPE PIPE2 READV SETEGID SETEUID SETGID SETGROUPS SETPGID SETSID',
      'SETUID STATVFS SYNC TCGETPGRP TCSETPGRP TTYNAME_R UMASK WRITEV',
    ].flatMap((line) => line.split(' ').map((name) => `-DHAVE_${name}`)),
    '-DUSE_XATTRS',
    '-Iinclude/coldframe',
  ],
  // The identifiers of WASI's clocks are pointers.
  'Modules/timemodule.c': ['-Wno-int-conversion'],
};

/**
 * Our headers that single units include before all other headers: unit to headers. Other units do
 * not depend on these headers.
 */
export const UNIT_HEADERS = {
  'Modules/_io/bufferedio.c': ['linux-errno.h', 'errors.h'],
  'Modules/errnomodule.c': ['linux-errno.h', 'errors.h'],
  'Modules/_io/fileio.c': ['linux-fcntl.h'],
  'Modules/posixmodule.c': ['errors.h', 'linux-fcntl.h', 'posix.h', 'sys/xattr.h', 'terminal.h'],
  'Python/fileutils.c': ['posix.h'],
  'Objects/exceptions.c': ['linux-errno.h', 'errors.h'],
  'Modules/socketmodule.c': ['errors.h'],
  'Python/errors.c': ['errors.h'],
};

/** The shim's own files have no warnings. */
export const SHIM = [
  '-Iinclude',
  ...PYTHON.filter((flag) => flag !== '-w'),
  '-Ishim',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-Wno-unused-parameter',
  '-Wno-sign-compare',
  '-Wno-missing-field-initializers',
];

/** The length of the guest's stack in bytes, which shim/entry.c reports. */
const STACK_SIZE = 8 << 20;

const LIBRARIES = ['-ldl', '-lwasi-emulated-signal', '-lwasi-emulated-getpid', '-lwasi-emulated-process-clocks', '-lm'];

const LINK_ANY = ['--target=wasm32-wasip1', ...LIBRARIES, '-Wl,--stack-first', `-Wl,-z,stack-size=${STACK_SIZE}`];

/**
 * Flags of a command that runs in node:wasi during the build. The command has no kernel, and a call
 * of a function of the shim that needs the kernel traps.
 */
export const LINK_COMMAND = [...LINK_ANY, '-Wl,--unresolved-symbols=ignore-all'];

/**
 * Functions of libc that shim/files.c and shim/process.c replace. Their names cannot be defined
 * twice, because libc defines many of them in one object.
 */
const REPLACED = [
  'access',
  'chmod',
  'dup2',
  'faccessat',
  'fchmod',
  'fchmodat',
  'fstat',
  'fstatat',
  'fstatvfs',
  'getpid',
  'isatty',
  'lstat',
  'mkdir',
  'mkdirat',
  'open',
  'openat',
  'stat',
  'statvfs',
  'uname',
];

/**
 * Names are kept for the image builder, which replaces bulk-memory instructions by calls of
 * `memmove` and `memset`, and then drops the names. The stack is at the lowest addresses, so an
 * overflow traps below address 0 and cannot overwrite data.
 */
export const LINK = [
  ...LINK_ANY,
  ...REPLACED.map((name) => `-Wl,--wrap=${name}`),
  // shim/timer.c ends these calls at the time of the process's timer.
  ...['__wasi_poll_oneoff', '__wasi_fd_read'].map((name) => `-Wl,--wrap=${name}`),
  '-mexec-model=reactor',
  '-Wl,--max-memory=2147483648',
];
