// Reads the words after a binding's command as the binding's input: `--json TEXT`, `--json -` for
// standard input, or `--key value` for the properties of an object. The binding's schema decides
// how a value is read. Next: help.js, which explains the words to users.
'use strict';

/**
 * Returns the input, or undefined if `words` is empty. `stdin` returns all of standard input.
 * `schema` returns the input's schema and is called only if the words are not `--json`.
 */
async function readArguments(words, { stdin, schema }) {
  const json = jsonOf(words);
  if (json !== undefined) return parsed(json === '-' ? stdin() : json);
  if (words.length === 0) return undefined;
  const properties = propertiesOf(await schema());
  const input = {};
  for (let at = 0; at < words.length; ) at = readOne(words, at, properties, input);
  return input;
}

function jsonOf([first, second, ...rest]) {
  const text = first === '--json' ? second : first?.startsWith('--json=') ? first.slice('--json='.length) : undefined;
  if (first === '--json' && second === undefined) throw new Error("--json expects JSON, or '-' for standard input");
  const more = first === '--json' ? rest : second === undefined ? [] : [second, ...rest];
  if (text !== undefined && more.length > 0) throw new Error(`--json accepts no further words, received '${more[0]}'`);
  return text;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the input is not JSON: ${error.message}`);
  }
}

// Returns a map of the properties that the schema names. Returns undefined for a schema without
// properties, which accepts every key.
function propertiesOf(schema) {
  const properties = schema?.properties;
  return typeof properties === 'object' && properties !== null ? new Map(Object.entries(properties)) : undefined;
}

// Reads the key at word `at` and its value. Returns the index of the next word.
function readOne(words, at, properties, input) {
  const [, written, , value] = /^--([^=]+)(=([\s\S]*))?$/.exec(words[at]) ?? [];
  if (written === undefined) throw new Error(`unexpected word '${words[at]}', expected --json JSON or --key value`);
  const { key, schema, negated } = find(written, properties);
  const type = typeOf(schema);
  if (type === 'boolean' && value === undefined && !/^(?:true|false)$/.test(words[at + 1] ?? '')) {
    put(input, key, !negated);
    return at + 1;
  }
  if (negated) throw new Error(`--${written} accepts no value`);
  const text = value ?? words[at + 1];
  if (text === undefined) throw new Error(`--${written} expects a value`);
  if (type === 'array') put(input, key, [...(Object.hasOwn(input, key) ? input[key] : []), ...items(text, schema, written)]);
  else put(input, key, read(text, type, written));
  return value === undefined ? at + 2 : at + 1;
}

// Defines a property. Assigning `__proto__` would define no key.
function put(input, key, value) {
  Object.defineProperty(input, key, { value, writable: true, enumerable: true, configurable: true });
}

function find(written, properties) {
  if (properties === undefined) return { key: written, negated: false };
  const spelled = (name) => [name, name.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase()), name.replaceAll('-', '_')];
  for (const key of spelled(written)) if (properties.has(key)) return { key, schema: properties.get(key), negated: false };
  if (written.startsWith('no-')) {
    const key = spelled(written.slice('no-'.length)).find((name) => typeOf(properties.get(name)) === 'boolean');
    if (key !== undefined) return { key, schema: properties.get(key), negated: true };
  }
  const known = [...properties.keys()].map((key) => `--${key}`).join(', ');
  throw new Error(`unknown option --${written}${known === '' ? '' : `, expected one of ${known}`}`);
}

const SIMPLE = ['string', 'boolean', 'integer', 'number', 'array'];

// Returns the type by which a word is read. undefined means JSON if the word is valid JSON, else
// text.
function typeOf(schema) {
  const named = [schema?.type ?? []].flat();
  if (named.length === 0 && Array.isArray(schema?.enum) && schema.enum.every((value) => typeof value === 'string'))
    return 'string';
  return SIMPLE.find((type) => named.includes(type)) ?? (named.includes('object') ? 'object' : undefined);
}

function items(text, schema, written) {
  if (text.startsWith('[')) return parsed(text);
  return [read(text, typeOf(schema?.items), written)];
}

function read(text, type, written) {
  if (type === 'string') return text;
  if (type === 'number' || type === 'integer') {
    const number = Number(text);
    if (text.trim() === '' || Number.isNaN(number)) throw new Error(`--${written} expects a number, received '${text}'`);
    return number;
  }
  if (type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw new Error(`--${written} expects true or false, received '${text}'`);
    return text === 'true';
  }
  if (type === 'object') return parsed(text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

module.exports = { readArguments };
