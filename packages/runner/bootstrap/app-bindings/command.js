// The command of a binding: `weather --json '{"city":"Oslo"}'`, `weather --city Oslo`, `weather
// --help`. The kernel passes the binding's name in place of `node`'s options. The result is written
// to stdout, a text unchanged and any other value as JSON. Errors are written to stderr, with exit
// code 1. Next: arguments.js, which converts the words to an input.
'use strict';

const { readArguments } = require('./arguments.js');
const { helpOf } = require('./help.js');
const { callBinding, describeBinding } = require('./call-binding.js');
const context = require('../context.js');

/** Runs the command of a binding. Returns false if this process is no command of a binding. */
function run() {
  const [kind, binding] = native.execArgv();
  if (kind !== 'binding') return false;
  const { process } = context;
  const [called, ...words] = native.argv();
  process.execArgv = [];
  const command = context.requireBuiltin('path').basename(called);
  carryOut(binding, command, words).then(
    (text) => process.stdout.write(text),
    (error) => {
      const code = error?.code === undefined ? '' : ` (${error.code})`;
      process.stderr.write(`${command}: ${error?.message ?? error}${code}\n`);
      process.exitCode = 1;
    },
  );
  return true;
}

async function carryOut(binding, command, words) {
  if (words.includes('--help') || words.includes('-h')) return helpOf(command, await describeBinding(binding));
  const input = await readArguments(words, {
    stdin: () => context.requireBuiltin('fs').readFileSync(0, 'utf8'),
    schema: async () => (await describeBinding(binding)).inputSchema,
  });
  const result = await callBinding(binding, input);
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  return text.endsWith('\n') ? text : `${text}\n`;
}

module.exports = { run };
