// Runs a program that is passed as text. `--input-type` selects an ES module or CommonJS, each in
// JavaScript or TypeScript. Node's `--eval` runs texts with these functions too
// (internal/main/eval_string). Next: options.js, which calls this file; run-file.js, which runs
// files.
'use strict';

const context = require('../context.js');
const { keepText } = require('../errors/source-lines.js');

function evaluate({ '--eval': code, '--input-type': type, '--print': print }) {
  const { evalModuleEntryPoint, evalScript, parseAndEvalCommonjsTypeScript, parseAndEvalModuleTypeScript } =
    context.requireBuiltin('internal/process/execution');
  keepText(type.startsWith('module') ? native.url() : '[eval]', code);
  if (type === 'module') return evalModuleEntryPoint(code, print);
  if (type === 'module-typescript') return parseAndEvalModuleTypeScript(code, print);
  context.requireBuiltin('internal/modules/helpers').addBuiltinLibsToObject(globalThis, '<eval>');
  const run = type === 'commonjs' ? evalScript : parseAndEvalCommonjsTypeScript;
  return run('[eval]', code, false, print, false);
}

module.exports = { evaluate };
