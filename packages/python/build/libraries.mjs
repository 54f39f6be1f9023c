// The C libraries of the built-in modules: the pinned cargo package of each, the files that are
// compiled, and the flags. One run of the compiler compiles a library to one object. Next:
// modules.mjs names the modules that use the libraries.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findPackage } from '../../runner/build/sources.mjs';
import { COMMON } from './flags.mjs';
import { sourcesDir } from './paths.mjs';

const LIBRARIES = [
  {
    name: 'zlib',
    package: ['libz-sys', '1.1.31'],
    folder: 'src/zlib',
    sources: /^(?:adler32|crc32|deflate|infback|inffast|inflate|inftrees|trees|zutil)\.c$/,
    flags: [],
  },
  {
    name: 'bzip2',
    package: ['bzip2-sys', '0.1.13+1.0.8'],
    folder: 'bzip2-1.0.8',
    sources: /^(?:blocksort|bzlib|compress|crctable|decompress|huffman|randtable)\.c$/,
    flags: ['-D_GNU_SOURCE'],
  },
  {
    name: 'lzma',
    package: ['liblzma-sys', '0.4.9'],
    folder: 'xz/src',
    // Without threads, and without the programs that make tables.
    sources:
      /^(?:liblzma\/(?:common|lzma|lz|check|delta|rangecoder|simple)\/(?!\w*(?:_mt|tablegen|_small|consts_gen)\.c)\w+|common\/tuklib_physmem)\.c$/,
    made: (root) => [['lib/lzma/config.h', readFileSync(join(root, '..', '..', 'config.h'), 'utf8')]],
    flags: [
      '-DHAVE_CONFIG_H',
      ...['api', 'lzma', 'lz', 'check', 'simple', 'delta', 'common', 'rangecoder'].map((name) => `-Ilib/lzma/liblzma/${name}`),
      '-Ilib/lzma/common',
    ],
  },
  {
    name: 'sqlite',
    package: ['libsqlite3-sys', '0.40.0'],
    folder: 'sqlite3',
    sources: /^sqlite3\.c$/,
    // The guest has one thread, no shared memory and no dynamic linker.
    flags: [
      '-DSQLITE_THREADSAFE=0',
      '-DSQLITE_OMIT_LOAD_EXTENSION',
      '-DSQLITE_OMIT_WAL',
      '-DSQLITE_OS_UNIX=1',
      '-D_WASI_EMULATED_GETPID',
      '-D_WASI_EMULATED_MMAN',
      '-DSQLITE_MAX_MMAP_SIZE=0',
      '-DSQLITE_TEMP_STORE=2',
      '-DSQLITE_ENABLE_COLUMN_METADATA',
      '-DSQLITE_ENABLE_DBSTAT_VTAB',
      '-DSQLITE_ENABLE_FTS4',
      '-DSQLITE_ENABLE_FTS5',
      '-DSQLITE_ENABLE_JSON1',
      '-DSQLITE_ENABLE_MATH_FUNCTIONS',
      '-DSQLITE_ENABLE_RTREE',
    ],
  },
];

/** Returns each library as a unit. */
export function readLibraries() {
  return LIBRARIES.map(({ name, package: [crate, version], folder, sources, flags, made }) => {
    const root = join(findPackage(crate, version, sourcesDir), folder);
    const names = filesBelow(root).filter((path) => /\.h$/.test(path) || sources.test(path));
    const inputs = names.map((path) => [`lib/${name}/${path}`, readFileSync(join(root, path), 'utf8')]);
    if (made !== undefined) inputs.push(...made(root));
    const compiled = names.filter((path) => sources.test(path)).map((path) => `lib/${name}/${path}`);
    return {
      name: `python-${name}`,
      args: [...compiled, '-nostdlib', '-nostartfiles', '-Wl,--relocatable'],
      flags: [...COMMON, ...flags, `-Ilib/${name}`],
      inputs,
    };
  });
}

/** Returns the paths of all files below `root`, sorted. */
const filesBelow = (root) =>
  readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
