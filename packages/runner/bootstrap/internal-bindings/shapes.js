// Makes the skeleton of a binding from its shape, which the build read from the real Node (build
// input `lib/shapes.json`). Constants are Node's own, verbatim. A function that this guest does not
// implement exists and throws when it is called (../errors/unavailable.js). An upgrade of Node
// therefore shows as a difference of shapes, and never as a missing property deep in the library.
// Next: the file with the binding's name, which replaces the functions that this guest implements.
'use strict';

const { unavailableError, unavailableFunction } = require('../errors/unavailable.js');

const shapes = JSON.parse(buildFile('lib/shapes.json'));

function hasShape(name) {
  return shapes[name] !== undefined;
}

// Returns the skeleton of a binding, or an empty object for a binding without a shape. Removes the
// shape from the table: each shape is needed once, and the image need not store used shapes.
function skeletonOf(name) {
  const shape = take(name);
  return shape === undefined ? {} : build(shape, name, '');
}

function take(name) {
  const shape = shapes[name];
  delete shapes[name];
  return shape;
}

// Returns a fact that the build recorded beside the bindings, such as `__options`.
function recorded(name) {
  return build(take(name), name, '');
}

function build(shape, binding, name) {
  switch (shape.t) {
    case 'null':
      return null;
    case 'u':
      return undefined;
    case 'n':
      return typeof shape.v === 'string' ? Number(shape.v) : shape.v;
    case 's':
    case 'b':
      return shape.v;
    case 'big':
      return BigInt(shape.v);
    case 'sym':
      return Symbol(shape.v);
    case 'ta':
      return new globalThis[shape.k](shape.l);
    case 'ab':
      return new ArrayBuffer(shape.l);
    case 'a':
      return shape.v.map((item) => build(item, binding, name));
    case 'map':
      return new Map(shape.v.map(([key, value]) => [build(key, binding, name), build(value, binding, name)]));
    case 'set':
      return new Set(shape.v.map((item) => build(item, binding, name)));
    case 'o':
      return buildObject(shape, binding, name);
    case 'f':
      return shape.cls !== undefined ? buildClass(shape, binding, name) : unavailableFunction(binding, name);
    default:
      throw new Error(`unknown shape '${shape.t}' in ${binding}.${name}`);
  }
}

function buildObject(shape, binding, name) {
  const object = shape.np ? { __proto__: null } : {};
  for (const key of Object.keys(shape.v)) {
    const value = build(shape.v[key], binding, name === '' ? key : `${name}.${key}`);
    const enumerable = !shape.h?.includes(key);
    if (shape.ro) Object.defineProperty(object, key, { value, enumerable });
    else Object.defineProperty(object, key, { value, enumerable, writable: true, configurable: true });
  }
  return object;
}

// Makes a class of the binding, which a program can extend and inspect; `new` throws.
function buildClass(shape, binding, name) {
  const feature = `${binding}.${name}`;
  const Class = function () {
    throw unavailableError(feature);
  };
  Object.defineProperty(Class, 'name', { value: shape.n || name, configurable: true });
  for (const method of [...shape.cls.m, ...shape.cls.chain]) {
    if (method in Class.prototype) continue;
    Object.defineProperty(Class.prototype, method, {
      configurable: true,
      writable: true,
      value: unavailableFunction(feature, method),
    });
  }
  for (const key of Object.keys(shape.st ?? {})) Class[key] = build(shape.st[key], binding, `${name}.${key}`);
  return Class;
}

module.exports = { hasShape, skeletonOf, recorded };
