// The representations of a value for a notebook: a MIME bundle, which maps MIME types to text. An
// object chooses its representations with the method `Symbol.for('Jupyter.display')`, as in Deno.
// Next: cell.js.
'use strict';

const context = require('../context.js');

const DISPLAY = Symbol.for('Jupyter.display');
const PLAIN = 'text/plain';

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Returns the bundle of a value. Text is its own plain representation, without quotes.
async function bundleOf(value) {
  if (isObject(value) && typeof value[DISPLAY] === 'function') {
    const own = await value[DISPLAY]();
    if (isObject(own)) return encoded(own);
  }
  return { [PLAIN]: typeof value === 'string' ? value : context.requireBuiltin('internal/util/inspect').inspect(value) };
}

// Returns a bundle whose values are text. Bytes become base64, and other values become JSON.
function encoded(bundle) {
  const out = {};
  for (const [type, value] of Object.entries(bundle)) {
    if (value !== undefined) out[type] = textOf(value);
  }
  return out;
}

function textOf(value) {
  if (typeof value === 'string') return value;
  if (ArrayBuffer.isView(value)) {
    const { Buffer } = context.requireBuiltin('buffer');
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  return JSON.stringify(value) ?? 'null';
}

module.exports = { bundleOf, encoded };
