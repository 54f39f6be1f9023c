// The conditions under which the loaders choose among a package's `exports`, for a process with
// options such as `--conditions`. The list is changed in place, because Node's ES module loader is
// made in the image and keeps a reference to the image's list. Next: program/options.js;
// start-up/boot.js calls `keepOpen` before Node's library makes the list.
'use strict';

const context = require('../context.js');
const { compileBuiltin, replaceBuiltin } = require('../start-up/builtins.js');

const ID = 'internal/modules/esm/utils';

// Replaces the file of Node's library by a copy whose list is not frozen.
function keepOpen() {
  const body = compileBuiltin(ID);
  replaceBuiltin(ID, (exports, require, module, process, internalBinding, primordials) =>
    body(exports, require, module, process, internalBinding, { __proto__: primordials, ObjectFreeze: (list) => list }),
  );
}

function applyConditions(values) {
  const { getDefaultConditions, getConditionsSet } = context.requireBuiltin(ID);
  const [list, set] = [getDefaultConditions(), getConditionsSet()];
  const without = [];
  if (values['--no-addons']) without.push('node-addons');
  if (values['--no-require-module']) without.push('module-sync');
  for (const name of without) {
    if (list.includes(name)) list.splice(list.indexOf(name), 1);
    set.delete(name);
  }
  for (const name of values['--conditions']) {
    list.push(name);
    set.add(name);
  }
  context.requireBuiltin('internal/modules/helpers').initializeCjsConditions();
}

module.exports = { applyConditions, keepOpen };
