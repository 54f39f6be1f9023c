// The parser: acorn with its TypeScript plugin, adapted to accept what Node's stripper accepts.
// Some rules are removed, because the parser only has to find the types. The engine
// reports duplicate names, exports of missing names and similar errors, as V8 reports them after
// Node's stripper. Next: index.js.
'use strict';

const WITH = "The 'with' statement is not supported. All symbols in a 'with' block will have type 'any'.";

const ACCEPTED = new RegExp(
  [
    'after an instantiation expression',
    'modifier must precede',
    'binding pattern parameter cannot be optional',
    'should have no params',
    'type cast in parameter',
  ].join('|'),
);
const OF_THE_ENGINE = /already been declared|Duplicate export|not defined|Unsyntactic/;

function makeParser({ acorn, tsPlugin }) {
  return class extends acorn.Parser.extend(tsPlugin()) {
    #withoutArrowTypes = false;

    checkLocalExport() {}
    raise(position, message) {
      if (!ACCEPTED.test(message)) super.raise(position, message);
    }
    raiseRecoverable(position, message) {
      if (!OF_THE_ENGINE.test(message)) this.raise(position, message);
    }
    parseWithStatement(node) {
      return super.raise(node.start, WITH);
    }
    // Also accepts `const` before a type parameter of a method.
    tsTryParseTypeParameters(parseModifiers = this.tsParseConstModifier) {
      return super.tsTryParseTypeParameters(parseModifiers);
    }
    // In `a ? (b) : c => d` the colon belongs to the condition; in `a ? (b): c => d : e` the first
    // colon belongs to the arrow. Only the end of the expression decides, so the parser tries two
    // readings: first as a type, then as a condition.
    parseConditional(...given) {
      if (this.#withoutArrowTypes || this.type.label !== '?') return super.parseConditional(...given);
      const { node } = this.tryParse(() => super.parseConditional(...given));
      if (node) return node;
      this.#withoutArrowTypes = true;
      try {
        return super.parseConditional(...given);
      } finally {
        this.#withoutArrowTypes = false;
      }
    }
    shouldParseArrow(list) {
      if (this.#withoutArrowTypes && this.type.label === ':') return false;
      return super.shouldParseArrow(list);
    }
  };
}

module.exports = { makeParser, WITH };
