// The built-in modules of the guest: the units and the flags of each module. No module can be
// loaded later, because the guest has no dynamic linker. Next: units.mjs makes units of the list.

const HACL = ['-IModules/_hacl/include', '-D_BSD_SOURCE', '-D_DEFAULT_SOURCE'];
const EXPAT = ['-IModules/expat'];
const DECIMAL = ['-IModules/_decimal/libmpdec', '-DCONFIG_32=1', '-DANSI=1'];

/** The functions that shim/sockets.c and shim/names.c add to WASI's libc. */
const SOCKET = [
  '-Iinclude',
  '-DENABLE_IPV6',
  '-DHAVE_GETHOSTNAME',
  '-DHAVE_NETDB_H',
  '-DHAVE_SYS_UN_H',
  '-DHAVE_ADDRINFO',
  ...[
    ...['SOCKET', 'SOCKETPAIR', 'BIND', 'CONNECT', 'LISTEN', 'RECVFROM', 'SENDTO', 'SETSOCKOPT', 'GETPEERNAME', 'GETSOCKNAME'],
    ...[
      'GETADDRINFO',
      'GAI_STRERROR',
      'GETNAMEINFO',
      'GETHOSTBYNAME',
      'GETHOSTBYADDR',
      'GETSERVBYNAME',
      'GETSERVBYPORT',
      'GETPROTOBYNAME',
    ],
  ].map((name) => `-DHAVE_${name}`),
];

/** The functions of shim/signals.c and shim/timer.c. */
const SIGNAL = ['-Iinclude', ...['SIGINTERRUPT', 'PAUSE', 'ALARM', 'SETITIMER', 'GETITIMER'].map((name) => `-DHAVE_${name}`)];

const DECIMAL_UNITS = [
  'basearith',
  'constants',
  'context',
  'convolute',
  'crt',
  'difradix2',
  'fnt',
  'fourstep',
  'io',
  'mpalloc',
  'mpdecimal',
  'numbertheory',
  'sixstep',
  'transpose',
].map((name) => `_decimal/libmpdec/${name}`);

const SQLITE_UNITS = [
  'blob',
  'connection',
  'cursor',
  'microprotocols',
  'module',
  'prepare_protocol',
  'row',
  'statement',
  'util',
].map((name) => `_sqlite/${name}`);

/** Returns a module with one unit, whose name differs from the module's. */
const one = (name, unit, flags) => ({ name, units: [unit], flags });

/**
 * The modules, in the order of the table in the interpreter. `units` are paths below `Modules/`
 * without `.c`; a module without `units` has one unit of its own name.
 */
export const MODULES = [
  one('array', 'arraymodule'),
  one('_asyncio', '_asynciomodule'),
  one('_bisect', '_bisectmodule'),
  one('_contextvars', '_contextvarsmodule'),
  { name: '_csv' },
  one('_heapq', '_heapqmodule'),
  { name: '_json' },
  { name: '_lsprof', units: ['_lsprof', 'rotatingtree'] },
  { name: '_opcode' },
  { name: '_pickle' },
  one('_queue', '_queuemodule'),
  one('_random', '_randommodule'),
  { name: '_struct' },
  { name: '_zoneinfo' },
  one('math', 'mathmodule'),
  one('cmath', 'cmathmodule'),
  one('_statistics', '_statisticsmodule'),
  one('_datetime', '_datetimemodule'),
  { name: '_decimal', units: ['_decimal/_decimal', ...DECIMAL_UNITS], flags: DECIMAL },
  { name: 'binascii', flags: ['-DUSE_ZLIB_CRC32', '-Ilib/zlib'] },
  { name: 'zlib', units: ['zlibmodule'], flags: ['-DHAVE_ZLIB_COPY=1', '-Ilib/zlib'] },
  one('_bz2', '_bz2module', ['-Ilib/bzip2']),
  one('_lzma', '_lzmamodule', ['-Ilib/lzma/liblzma/api']),
  {
    name: '_sqlite3',
    units: SQLITE_UNITS,
    flags: ['-IModules/_sqlite', '-Ilib/sqlite', '-DPY_SQLITE_HAVE_SERIALIZE=1'],
  },
  { name: '_md5', units: ['md5module', '_hacl/Hacl_Hash_MD5'], flags: HACL },
  { name: '_sha1', units: ['sha1module', '_hacl/Hacl_Hash_SHA1'], flags: HACL },
  { name: '_sha2', units: ['sha2module', '_hacl/Hacl_Hash_SHA2'], flags: HACL },
  { name: '_sha3', units: ['sha3module', '_hacl/Hacl_Hash_SHA3'], flags: HACL },
  { name: '_blake2', units: ['_blake2/blake2module', '_blake2/blake2b_impl', '_blake2/blake2s_impl'] },
  { name: 'pyexpat', units: ['pyexpat', 'expat/xmlparse', 'expat/xmlrole', 'expat/xmltok'], flags: EXPAT },
  { name: '_elementtree', flags: EXPAT },
  ...['cn', 'hk', 'iso2022', 'jp', 'kr', 'tw'].map((name) => one(`_codecs_${name}`, `cjkcodecs/_codecs_${name}`)),
  one('_multibytecodec', 'cjkcodecs/multibytecodec'),
  { name: 'unicodedata' },
  one('select', 'selectmodule'),
  one('_socket', 'socketmodule', SOCKET),
  one('atexit', 'atexitmodule'),
  { name: 'faulthandler' },
  one('posix', 'posixmodule'),
  one('_signal', 'signalmodule', SIGNAL),
  { name: '_tracemalloc' },
  { name: '_suggestions' },
  one('_codecs', '_codecsmodule'),
  one('_collections', '_collectionsmodule'),
  one('errno', 'errnomodule'),
  {
    name: '_io',
    units: ['_iomodule', 'iobase', 'fileio', 'bytesio', 'bufferedio', 'textio', 'stringio'].map((name) => `_io/${name}`),
  },
  one('itertools', 'itertoolsmodule'),
  one('_sre', '_sre/sre'),
  { name: '_sysconfig' },
  one('_thread', '_threadmodule'),
  one('time', 'timemodule'),
  one('_typing', '_typingmodule'),
  { name: '_weakref' },
  { name: '_abc' },
  one('_functools', '_functoolsmodule'),
  one('_locale', '_localemodule'),
  { name: '_operator' },
  { name: '_stat' },
  one('_symtable', 'symtablemodule'),
];

/** The modules of the shim (shim/*-module.c), whose units are not in CPython's source. */
export const HOST_MODULES = ['_coldframe_host', '_coldframe_calls'];

/**
 * Returns `Modules/config.c`, the interpreter's table of built-in modules, from its template in
 * CPython's source.
 */
export function moduleTable(template, names) {
  return template
    .replace('/* -- ADDMODULE MARKER 1 -- */', names.map((name) => `extern PyObject *PyInit_${name}(void);`).join('\n'))
    .replace('/* -- ADDMODULE MARKER 2 -- */', names.map((name) => `{"${name}", PyInit_${name}},`).join('\n'));
}
