// Finds the names that a CommonJS module exports, for `import` (node_cjs_lexer.cc), with the
// library that Node uses, in the guest.
'use strict';

module.exports = function cjsLexer(binding) {
  binding.parse = (source) => {
    const [names, reexports] = native.parseCommonJs(`${source}`);
    return [new Set(names), reexports];
  };
};
