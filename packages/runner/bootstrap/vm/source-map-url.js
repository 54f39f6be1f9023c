// What: the `sourceMappingURL` comment of a source text, which V8 finds while it scans. The last one counts.
'use strict';

const LENGTH = '//# sourceMappingURL='.length;

function sourceMapUrlOf(code) {
  const at = Math.max(code.lastIndexOf('//# sourceMappingURL='), code.lastIndexOf('//@ sourceMappingURL='));
  return at === -1 ? undefined : /^[^\s'"]*/.exec(code.slice(at + LENGTH))[0] || undefined;
}

module.exports = { sourceMapUrlOf };
