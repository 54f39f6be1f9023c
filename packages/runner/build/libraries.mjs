// The C and C++ libraries of the guest: which pinned cargo package carries each, which of its files are compiled, and how. One unit per library,
// compiled and linked to one object by one run of the compiler, because starting it costs more than compiling most files.
// Why in the guest and not in the host: their state is then guest memory, which is limited, stopped and saved like everything else.
// The glue that makes natives of them is engine/shim/library-*.c. The next step is `compile.mjs`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractNodeLibrary } from './node-lib.mjs';
import { findPackage } from './sources.mjs';
import { translate } from './wasm-to-c.mjs';

const CPP = ['-std=c++20', '-fno-exceptions', '-fno-rtti'];

export const LIBRARIES = [
  {
    name: 'zlib',
    package: ['libz-sys', '1.1.31'],
    folder: 'src/zlib',
    sources: ['adler32.c', 'crc32.c', 'deflate.c', 'inffast.c', 'inflate.c', 'inftrees.c', 'trees.c', 'zutil.c'],
    flags: ['-DZ_SOLO', '-w'],
  },
  { name: 'merve', package: ['merve', '1.2.2'], folder: 'deps', sources: ['merve.cpp'], flags: [...CPP, '-w'] },
];

/** Each library as a unit: `files` are its sources and headers as [path, text], `args` what the compiler is told besides flags. */
export function readLibraries() {
  return LIBRARIES.map(({ name, package: [crate, version], folder, sources, flags }) => {
    const root = join(findPackage(crate, version), folder);
    const files = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isFile() && (/\.h$/.test(entry.name) || sources.includes(entry.name)))
      .map((entry) => [`lib/${name}/${entry.name}`, readFileSync(join(root, entry.name), 'utf8')])
      .sort();
    const args = [...sources.map((source) => `lib/${name}/${source}`), '-nostdlib', '-nostartfiles', '-Wl,--relocatable'];
    return { name, args, files, flags: [...flags, `-Ilib/${name}`], compiler: /\.cpp$/.test(sources[0]) ? 'clang++' : 'clang' };
  });
}

/** llhttp as C, out of Node's own library: `[path, text]`. See `wasm-to-c.mjs`. */
export async function readHttpParser() {
  const undici = readFileSync(join(await extractNodeLibrary(), 'internal/deps/undici/undici.js'), 'utf8');
  const encoded = /lib\/llhttp\/llhttp-wasm\.js"[\s\S]*?wasmBase64 = "([^"]+)"/.exec(undici)?.[1];
  if (encoded === undefined)
    throw new Error("Node's library has no llhttp in WebAssembly where it was: internal/deps/undici/undici.js");
  return ['lib/llhttp/llhttp.c', translate(Buffer.from(encoded, 'base64'), 'llhttp')];
}
