// What: the parser: acorn with its TypeScript plugin, made to accept what Node's stripper accepts.
// Why rules are taken away: the parser only has to know where the types are. A name that is declared twice, an export of what is not there and the
// like are reported by the engine, as V8 reports them after Node's stripper.
// Next: index.js.
'use strict';

const WITH = "The 'with' statement is not supported. All symbols in a 'with' block will have type 'any'.";

const ACCEPTED =
  /after an instantiation expression|modifier must precede|binding pattern parameter cannot be optional|should have no params|type cast in parameter/;
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
    // `const` before a parameter of a method, too.
    tsTryParseTypeParameters(parseModifiers = this.tsParseConstModifier) {
      return super.tsTryParseTypeParameters(parseModifiers);
    }
    // In `a ? (b) : c => d` the colon belongs to the condition; in `a ? (b): c => d : e` the first one belongs to the arrow. Which it is shows
    // only at the end: first as a type, then not.
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
