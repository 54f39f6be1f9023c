// Strips types from TypeScript, in the place of Node's parser in WebAssembly
// (internal/deps/amaro/dist/index). Node's own library calls `transformSync` and writes the error
// messages. The parser is JavaScript, because the guest has no WebAssembly. The parser is compiled
// in the image and runs at the first TypeScript file. Next: parser.js, strip.js.
'use strict';

const { problem } = require('./errors.js');
const { makeParser, WITH } = require('./parser.js');
const { strip } = require('./strip.js');
const { Text } = require('./text.js');

const AS_MODULE = 'module';
const AS_SCRIPT = 'script';
const BYTE_ORDER_MARK = 0xfeff;

// Makes `transformSync`. `load()` returns the parser's modules, `{ acorn, tsPlugin }`.
function createTransform(load) {
  let Parser;
  return function transformSync(given, { filename } = {}) {
    const source = given.charCodeAt(0) === BYTE_ORDER_MARK ? given.slice(1) : given;
    Parser ??= makeParser(load());
    const [program, comments] = parse(Parser, source, filename);
    const text = new Text(source, comments);
    const refused = (node, message) => {
      throw problem('UnsupportedSyntax', message, source, filename, node.start, node.end);
    };
    refuseModuleKeyword(program, source, filename);
    strip(program, text, refused);
    return { code: text.toString() };
  };
}

// Parses a text as a module, or as a script if the text can only be a script. Throws the error of
// the module if the text is neither.
function parse(Parser, source, filename) {
  try {
    return parseAs(Parser, source, AS_MODULE);
  } catch (error) {
    if (typeof error?.pos !== 'number') throw error;
    try {
      return parseAs(Parser, source, AS_SCRIPT);
    } catch {}
    throw invalid(error, source, filename);
  }
}

function parseAs(Parser, source, sourceType) {
  const comments = new Map();
  const program = Parser.parse(source, {
    ecmaVersion: 'latest',
    sourceType,
    allowAwaitOutsideFunction: sourceType === AS_MODULE,
    allowHashBang: true,
    locations: true,
    preserveParens: true,
    onComment: (_isBlock, _text, start, end) => comments.set(start, end),
  });
  return [program, comments];
}

const MESSAGES = [
  [/^'return' outside/, 'Return statement is not allowed here', 'return'.length],
  [/^The 'with'/, WITH, 'with'.length],
  [/^Unexpected token$/, 'Unexpected token', 1],
];

function invalid(error, source, filename) {
  const raw = error.message.replace(/ \(\d+:\d+\)$/, '');
  if (error.pos >= source.trimEnd().length)
    return problem('InvalidSyntax', 'Unexpected eof', source, filename, source.length, source.length);
  const [, message = raw, length = 1] = MESSAGES.find(([pattern]) => pattern.test(raw)) ?? [];
  return problem('InvalidSyntax', message, source, filename, error.pos, error.pos + length);
}

// Refuses `module X {}`, whose present spelling is `namespace X {}`.
function refuseModuleKeyword({ body }, source, filename) {
  for (const item of body) {
    const node = item.declaration ?? item;
    if (node.type !== 'TSModuleDeclaration' || node.global || node.id.type === 'Literal') continue;
    const keyword = /^(declare\s+)?module\b/.exec(source.slice(node.start, node.end));
    if (keyword === null) continue;
    const start = node.start + (keyword[1]?.length ?? 0);
    throw problem(
      'UnsupportedSyntax',
      '`module` keyword is not supported. Use `namespace` instead.',
      source,
      filename,
      start,
      node.id.end,
    );
  }
}

module.exports = { createTransform };
