// Makes the frozen modules: the interpreter's own start code as bytes of bytecode. CPython's
// program for this purpose, `_freeze_module`, is the interpreter without frozen modules. The build
// compiles it to a WASI command and runs it here, so no native Python is needed. Next: compile.mjs.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildModule } from '../../runner/build/clang.mjs';
import { step } from '../../runner/build/progress.mjs';
import { LINK_COMMAND } from './flags.mjs';
import { cacheDir } from './paths.mjs';
import { shimUnits, unit } from './units.mjs';
import { WASI } from './wasi.mjs';

/**
 * Returns the headers of all frozen modules: path to text.
 * @param {Map<string, string>} source
 * @param {object[]} interpreter  the units of the interpreter, its modules and their table
 */
export async function freezeModules(source, headers, interpreter, expected) {
  const own = ['Programs/_freeze_module.c', 'Modules/getpath_noop.c'].map((path) => unit(path, source, headers));
  const units = [...interpreter, ...own, ...shimUnits(headers, ['poll', 'memory', 'errors'])];
  const { wasm, key } = await buildModule('freeze-module', units, { link: LINK_COMMAND, expected });
  const names = [...source.get('Python/frozen.c').matchAll(/#include "frozen_modules\/(.*)\.h"/g)].map(([, name]) => name);
  const cached = join(cacheDir, 'python', `frozen-${key}.json`);
  if (!existsSync(cached)) {
    const frozen = await step('freezing modules', undefined, () => freeze(wasm, source, ['getpath', ...names]));
    mkdirSync(dirname(cached), { recursive: true });
    writeFileSync(`${cached}.${process.pid}`, JSON.stringify(frozen));
    renameSync(`${cached}.${process.pid}`, cached);
  }
  return new Map(JSON.parse(readFileSync(cached, 'utf8')));
}

/** Returns the path of a frozen module's source. */
function sourceOf(name, source) {
  if (name === 'getpath') return 'Modules/getpath.py';
  if (name === 'frozen_only') return 'Tools/freeze/flag.py';
  const path = `Lib/${name.replaceAll('.', '/')}`;
  return source.has(`${path}.py`) ? `${path}.py` : `${path}/__init__.py`;
}

async function freeze(wasm, source, names) {
  const module = await WebAssembly.compile(wasm);
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-freeze-'));
  try {
    const frozen = [];
    for (const name of names) {
      writeFileSync(join(folder, 'module.py'), source.get(sourceOf(name, source)));
      run(module, folder, ['_freeze_module', name, '/module.py', '/module.h']);
      frozen.push([`Python/frozen_modules/${name}.h`, readFileSync(join(folder, 'module.h'), 'utf8')]);
    }
    return frozen;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(module, folder, args) {
  const wasi = new WASI({ version: 'preview1', args, preopens: { '/': folder }, returnOnExit: true });
  const coldframe = { poll: () => 0 };
  const code = wasi.start(new WebAssembly.Instance(module, { ...wasi.getImportObject(), coldframe }));
  if (code !== 0) throw new Error(`${args.join(' ')} failed with code ${code}`);
}
