// Installs our TypeScript stripper where Node's library looks for its own. `assertTypeScript` is
// replaced, because it asks for WebAssembly, which Node's parser needs and ours does not. Next:
// index.js.
'use strict';

const context = require('../context.js');
const { replaceBuiltin } = require('../start-up/builtins.js');
const { createTransform } = require('./index.js');

const ID = 'internal/deps/amaro/dist/index';
const ACORN = 'internal/deps/acorn/acorn/dist/acorn';

function install() {
  // Compiled here without running: programs without TypeScript do not pay for the parser.
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
