// Implements V8's NoSideEffectsToString: describes a value without running code of the program.
// Messages about rejected promises contain the description.
'use strict';

function describe(value) {
  switch (typeof value) {
    case 'string':
      return value;
    case 'symbol':
      return value.toString();
    case 'bigint':
      return String(value);
    case 'function':
      return Function.prototype.toString.call(value);
    case 'object':
      return value === null ? 'null' : describeObject(value);
    default:
      return String(value);
  }
}

// Returns the value of a data property on the prototype chain, without running getters or proxies.
function peek(object, key) {
  for (
    let holder = object;
    holder !== null && native.proxyDetails(holder) === undefined;
    holder = Object.getPrototypeOf(holder)
  ) {
    const property = Object.getOwnPropertyDescriptor(holder, key);
    if (property !== undefined) return 'value' in property ? property.value : undefined;
  }
  return undefined;
}

function describeObject(object) {
  if (native.proxyDetails(object) !== undefined) return '#<Object>';
  if (native.types.isNativeError(object)) {
    const name = peek(object, 'name') ?? 'Error';
    const message = peek(object, 'message') ?? '';
    const nameText = describe(name);
    const messageText = describe(message);
    if (nameText === '') return messageText;
    return messageText === '' ? nameText : `${nameText}: ${messageText}`;
  }
  const tag = peek(object, Symbol.toStringTag);
  if (peek(object, 'toString') === Object.prototype.toString && typeof tag !== 'string') {
    return `#<${native.constructorName(object) || 'Object'}>`;
  }
  return typeof tag === 'string' ? `[object ${tag}]` : Object.prototype.toString.call(object);
}

module.exports = { describe };
