// Compiles python.wasm: CPython's source, our patches, and the shim. The image builder
// (packages/sidecar/crates/imager) lowers and checks the module. Next: units.mjs lists the units,
// and freeze.mjs makes the frozen modules between two steps of the compilation.
import { buildModule } from '../../runner/build/clang.mjs';
import { LINK } from './flags.mjs';
import { freezeModules } from './freeze.mjs';
import { readLibraries } from './libraries.mjs';
import { HOST_MODULES, MODULES, moduleTable } from './modules.mjs';
import { coreUnits, moduleUnits, readHeaders, shimUnits, unit } from './units.mjs';

const EXPECTED = 'about 6 min on two processors, once';
const SHIM = [
  'addresses',
  'attributes',
  'calls-module',
  'clusters',
  'entry',
  'errors',
  'files',
  'gather',
  'host-module',
  'immortal',
  'memory',
  'names',
  'park',
  'paths',
  'poll',
  'process',
  'signals',
  'sleep',
  'sockets',
  'timer',
];

/**
 * @param {Map<string, string>} source  the patched source of CPython
 * @returns {Promise<{ wasm: Buffer, key: string }>}
 */
export async function compilePython(source) {
  const libraries = readLibraries();
  const headers = readHeaders(source, libraries);
  const interpreter = [
    ...coreUnits(source, headers),
    unit('Modules/getbuildinfo.c', source, headers),
    ...moduleUnits(source, headers),
    ...libraries,
  ];
  const table = (names) => {
    const text = moduleTable(source.get('Modules/config.c.in'), names);
    return unit('Modules/config.c', new Map([['Modules/config.c', text]]), headers);
  };
  const names = MODULES.map(({ name }) => name);
  const frozen = await freezeModules(source, headers, [...interpreter, table(names)], EXPECTED);
  const withFrozen = (path) => {
    const made = unit(path, source, headers);
    return { ...made, inputs: [...made.inputs, ...frozen] };
  };
  const units = [
    ...interpreter,
    table([...names, ...HOST_MODULES]),
    withFrozen('Modules/getpath.c'),
    withFrozen('Python/frozen.c'),
    ...shimUnits(headers, SHIM),
  ];
  return buildModule('python', units, { link: LINK, expected: EXPECTED });
}
