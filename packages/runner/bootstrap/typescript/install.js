// Installs our TypeScript stripper in place of the stripper of Node's library. `assertTypeScript`
// is replaced, because that function requires WebAssembly, which our parser does not need. Next:
// index.js.
'use strict';

const context = require('../context.js');
const { replaceBuiltin } = require('../start-up/builtins.js');
const { createTransform } = require('./index.js');

const ID = 'internal/deps/amaro/dist/index';
const ACORN = 'internal/deps/acorn/acorn/dist/acorn';

function install() {
  // The parser is compiled in the image without running, because only programs with TypeScript need
  // the parser.
  const parser = native.compileFunction(buildFile('lib/typescript-parser.js'), 'coldframe:typescript-parser', [
    'require',
    'module',
  ]);
  const load = () => {
    const acorn = context.requireBuiltin(ACORN);
    const module = { exports: {} };
    parser(() => acorn, module);
    return { acorn, tsPlugin: module.exports.tsPlugin };
  };
  replaceBuiltin(ID, (_exports, _require, module) => {
    module.exports = { transformSync: createTransform(load) };
  });
  context.requireBuiltin('internal/util').assertTypeScript = () => {};
}

module.exports = { install };
