// The `.env` format, as Node's C++ reads it (node_dotenv.cc): `KEY=value` lines, `export`, three
// kinds of quotes, comments. Next: internal-bindings/util.js, which exports the parser to Node's
// library.
'use strict';

const LINE = /^\s*(?:export\s+)?([^\s=#]+)[ \t]*=[ \t]*('[^']*'|"[^"]*"|`[^`]*`|[^\r\n#]*)?[^\r\n]*$/gm;

function parseEnv(content) {
  const values = {};
  for (const [, key, raw = ''] of String(content).matchAll(LINE)) values[key] = unquote(raw.trim());
  return values;
}

function unquote(text) {
  const quote = text[0];
  if (text.length < 2 || (quote !== '"' && quote !== "'" && quote !== '`') || text.at(-1) !== quote) return text;
  const inner = text.slice(1, -1);
  return quote === '"' ? inner.replaceAll('\\n', '\n') : inner;
}

module.exports = { parseEnv };
