// Finds the names that a CommonJS module exports, for `import` (node_cjs_lexer.cc). The guest
// contains the library that Node uses.
'use strict';

module.exports = function cjsLexer(binding) {
  binding.parse = (source) => {
    const [names, reexports] = native.parseCommonJs(`${source}`);
    return [new Set(names), reexports];
  };
};
