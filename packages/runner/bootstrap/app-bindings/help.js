// Makes the text that `--help` of a binding's command prints: the binding's description, the
// properties of the input, examples, and the whole schema. Each example is a command line that can
// be run unchanged.
'use strict';

const LONGEST = 60;

function helpOf(command, { description, inputSchema, examples = [] }) {
  const parts = [description, `Usage: ${command} --json JSON        the input ('-': read it from stdin)`];
  const options = optionsOf(inputSchema);
  if (options.length > 0) {
    parts[1] += `\n       ${command} --key value ...`;
    parts.push(`Input:\n${options.join('\n')}`);
  }
  if (examples.length > 0) parts.push(`Examples:\n${examples.map((example) => exampleOf(command, example)).join('\n')}`);
  if (inputSchema !== undefined) parts.push(`Schema:\n${indented(JSON.stringify(inputSchema, null, 2))}`);
  return `${parts.join('\n\n')}\n`;
}

function optionsOf(schema) {
  const required = new Set(Array.isArray(schema?.required) ? schema.required : []);
  const lines = Object.entries(schema?.properties ?? {}).map(([key, property]) => {
    const left = `  --${key} <${kindOf(property)}>`;
    const notes = [property?.description, required.has(key) ? '(required)' : undefined, defaultOf(property)].filter(Boolean);
    return { left, right: notes.join(' ') };
  });
  const width = Math.max(0, ...lines.map(({ left }) => left.length));
  return lines.map(({ left, right }) => `${left.padEnd(width)}  ${right}`.trimEnd());
}

function kindOf(property) {
  if (Array.isArray(property?.enum)) return short(property.enum.map((value) => JSON.stringify(value)).join('|'));
  return [property?.type ?? 'json'].flat().join('|');
}

const defaultOf = (property) =>
  property?.default === undefined ? undefined : `[default: ${short(JSON.stringify(property.default))}]`;

function exampleOf(command, { description, input }) {
  const quoted = `'${JSON.stringify(input).replaceAll("'", "'\\''")}'`;
  const line = `  ${command} --json ${quoted}`;
  return description === undefined ? line : `  # ${description}\n${line}`;
}

const indented = (text) => text.replace(/^/gm, '  ');
const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}...` : text);

module.exports = { helpOf };
