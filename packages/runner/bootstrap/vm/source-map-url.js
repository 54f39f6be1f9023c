// Finds the `sourceMappingURL` comment of a source text, as V8 does while scanning. Returns the URL
// of the last such comment, or undefined.
'use strict';

const LENGTH = '//# sourceMappingURL='.length;

function sourceMapUrlOf(code) {
  const at = Math.max(code.lastIndexOf('//# sourceMappingURL='), code.lastIndexOf('//@ sourceMappingURL='));
  return at === -1 ? undefined : /^[^\s'"]*/.exec(code.slice(at + LENGTH))[0] || undefined;
}

module.exports = { sourceMapUrlOf };
