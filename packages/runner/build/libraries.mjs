// The C and C++ libraries of the guest: the pinned cargo package of each, the files that are
// compiled, and the flags. One run of the compiler compiles and links a library to one object,
// because starting the compiler costs more than compiling most files. The libraries run in the
// guest and not in the sidecar. The libraries' state is therefore guest memory, which is limited,
// freed and snapshotted with the guest. The natives that call the libraries are in
// engine/shim/library-*.c. Next: `compile.mjs`.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { VALUES_ONLY } from './flags.mjs';
import { extractNodeLibrary } from './node-lib.mjs';
import { findPackage } from './sources.mjs';
import { translate } from './wasm-to-c.mjs';

const CPP = ['-std=c++20', '-fno-exceptions', '-fno-rtti'];

export const LIBRARIES = [
  {
    name: 'zlib',
    package: ['libz-sys', '1.1.31'],
    folder: 'src/zlib',
    sources: /^(?:adler32|crc32|deflate|inffast|inflate|inftrees|trees|zutil)\.c$/,
    flags: ['-DZ_SOLO', '-w'],
  },
  { name: 'merve', package: ['merve', '1.2.2'], folder: 'deps', sources: /^merve\.cpp$/, flags: [...CPP, '-w'] },
  { name: 'ada', package: ['ada-url', '4.0.0'], folder: 'deps', sources: /^ada\.cpp$/, flags: [...CPP, '-Os', '-w'] },
  {
    name: 'brotli',
    package: ['compu-brotli-sys', '1.2.1'],
    folder: 'brotli/c',
    sources: /^(?:common|dec|enc)\/\w+\.c$/,
    flags: ['-Os', '-Ilib/brotli/include', '-w'],
    sanitized: VALUES_ONLY,
  },
  {
    name: 'nghttp2',
    package: ['libnghttp2-sys', '0.1.13+1.68.1'],
    folder: 'nghttp2/lib',
    sources: /^\w+\.c$/,
    made: nghttp2Version,
    flags: [
      '-Os',
      '-Ilib/nghttp2/includes',
      '-DNGHTTP2_STATICLIB',
      '-DHAVE_ARPA_INET_H',
      '-DHAVE_NETINET_IN_H',
      '-DHAVE_CLOCK_GETTIME',
      '-DHAVE_DECL_CLOCK_MONOTONIC=1',
      '-w',
    ],
  },
  {
    name: 'zstd',
    package: ['zstd-sys', '2.0.16+zstd.1.5.7'],
    folder: 'zstd/lib',
    sources: /^(?:common|compress|decompress)\/\w+\.c$/,
    flags: ['-Os', '-DZSTD_DISABLE_ASM', '-DZSTD_LEGACY_SUPPORT=0', '-w'],
    sanitized: VALUES_ONLY,
  },
];

/**
 * Returns each library as a unit: `files` are the library's sources and headers as [path, text].
 * `args` are the compiler's arguments besides the flags.
 */
export function readLibraries() {
  return LIBRARIES.map(({ name, package: [crate, version], folder, sources, flags, sanitized, made }) => {
    const root = join(findPackage(crate, version), folder);
    const names = filesBelow(root).filter((path) => /\.h$/.test(path) || sources.test(path));
    const files = names.map((path) => [`lib/${name}/${path}`, readFileSync(join(root, path), 'utf8')]);
    if (made !== undefined) files.push(made(root, version));
    const compiled = names.filter((path) => sources.test(path));
    const args = [...compiled.map((path) => `lib/${name}/${path}`), '-nostdlib', '-nostartfiles', '-Wl,--relocatable'];
    return {
      name,
      args,
      files,
      flags: [...flags, `-Ilib/${name}`],
      sanitized,
      compiler: /\.cpp$/.test(compiled[0]) ? 'clang++' : 'clang',
    };
  });
}

/**
 * Returns nghttp2's header with its version, `[path, text]`. The build of nghttp2 makes this header
 * from a template.
 */
function nghttp2Version(root, crateVersion) {
  const version = crateVersion.split('+')[1];
  const number = version.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const template = readFileSync(join(root, 'includes/nghttp2/nghttp2ver.h.in'), 'utf8');
  const text = template.replace('@PACKAGE_VERSION@', version).replace('@PACKAGE_VERSION_NUM@', `0x${number.toString(16)}`);
  return ['lib/nghttp2/includes/nghttp2/nghttp2ver.h', text];
}

/** Returns the paths of all files below `root`, sorted. */
const filesBelow = (root) =>
  readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();

/**
 * Returns llhttp as C: `[path, text]`. Node's own library contains llhttp as WebAssembly, which
 * `wasm-to-c.mjs` translates.
 */
export async function readHttpParser() {
  const undici = readFileSync(join(await extractNodeLibrary(), 'internal/deps/undici/undici.js'), 'utf8');
  const encoded = /lib\/llhttp\/llhttp-wasm\.js"[\s\S]*?wasmBase64 = "([^"]+)"/.exec(undici)?.[1];
  if (encoded === undefined)
    throw new Error("internal/deps/undici/undici.js of Node's library no longer contains llhttp as WebAssembly");
  return ['lib/llhttp/llhttp.c', translate(Buffer.from(encoded, 'base64'), 'llhttp')];
}
