// Tests the prose linter: extraction of comments and test names, rules, widths, wrapping, sampling.

import { expect, test } from 'vitest';
import { piecesOf } from '../prose/extract.mjs';
import { allFiles, kindOf } from '../prose/files.mjs';
import { docSentences, lint } from '../prose/lint.mjs';
import { draw, sample } from '../prose/sample.mjs';
import { wrap } from '../prose/wrap.mjs';

const comments = (source, kind) => piecesOf(source, kind, 'x').comments.map(({ line, lines }) => [line, ...lines]);
const testNames = (source, kind) => piecesOf(source, kind, 'test/x').tests.map(({ line, name }) => [line, name]);

/** Returns the rules that `source` breaks, with the line numbers. */
async function broken(source, path = 'x.md') {
  return (await lint(path, source, kindOf(path))).map(({ line, rule }) => `${line} ${rule}`);
}

test('finds comments in TypeScript, not in its strings, templates and patterns', () => {
  const source =
    "// one\n// two\nconst a = '// no', b = `/* no ${c /* yes */} */`, d = /\\/\\/ no/; // three\n/** four\n * five */\n";
  expect(comments(source, 'script')).toEqual([
    [1, 'one', 'two'],
    [3, 'yes'],
    [3, 'three'],
    [4, 'four', 'five'],
  ]);
});

test('finds comments in Rust, not in its strings, raw strings and characters', () => {
  const source = `//! a\n/// b\nfn f<'a>() { let s = "// no"; r#"/* " no "#; '"'; } // c\n/* d /* e */ f */`;
  expect(comments(source, 'rust')).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
    [4, 'd /* e */ f'],
  ]);
});

test('finds comments in C, TOML and the head of a patch', () => {
  expect(comments("char c = '\"'; /* a\n   b */\n", 'c')).toEqual([[1, 'a', 'b']]);
  expect(comments('# a\n# b\nx = "# no"\n', 'hash')).toEqual([[1, 'a', 'b']]);
  expect(comments('Why so.\n\ndiff --git a/x b/x\n+// no\n', 'patch')).toEqual([[1, 'Why so.']]);
});

test('finds the names of tests in JavaScript and Rust', () => {
  const script = "test('a', f);\ntest.each([['(']])('b $x', f);\nit.skip(`c ${d}`, f);\n/x/.test('no');\n";
  expect(testNames(script, 'script')).toEqual([
    [1, 'a'],
    [2, 'b X'],
    [3, 'c X'],
  ]);
  const rust = '#[test]\n#[cfg(unix)]\nfn reuses_a_slot() {}\nfn no() {}\n// #[test]\nfn no_2() {}\n';
  expect(testNames(rust, 'rust')).toEqual([[3, 'reuses a slot']]);
});

test('reports sentences above 25 words, and counts a code span or a quotation as one word', async () => {
  const words = (count) => `Word${' word'.repeat(count - 1)}.`;
  expect(await broken(`Short one. ${words(25)}`)).toEqual([]);
  expect(await broken(`Short one.\n${words(26)}`)).toEqual(['2 sentence-length']);
  expect(await broken(`\`a b c\` "d e f" ${words(23)}`)).toEqual([]);
  expect(await broken(`${words(20)}\n"d e f" is ${words(15)}`)).toEqual([]);
  expect(await broken(`| a |\n|---|\n| ${words(30)} |`)).toEqual([]);
  expect(await broken(`- \`A\`, \`B\`, \`C\` and \`D\` ${words(24)}`)).toEqual([]);
});

test('reports statements that begin with a relative clause', async () => {
  expect(await broken('What remains is removed. The rest stays.')).toEqual(['1 sentence-start']);
  expect(await broken('What happens then? It stays.')).toEqual([]);
  expect(await broken('// Of which one is free.\n', 'x.ts')).toEqual(['1 sentence-start']);
  expect(await broken('| what |\n|---|\n| a |')).toEqual([]);
});

test('reports words of the list outside code spans and quotations', async () => {
  expect(await broken('The household ends. A `household` and "the desk" are quoted.')).toEqual(['1 words']);
  expect(await broken('A user who reads this.')).toEqual([]);
  expect(await broken('// a caller who waits\n', 'x.rs')).toEqual(['1 words']);
  expect(await broken("test('nobody is told', f);\n", 'test/x.test.ts')).toEqual(['1 words', '1 words']);
});

test('takes tags of JSDoc, drawings, directives and indented code for no prose', async () => {
  const source = [
    '/**',
    ' * Returns a port.',
    ' * @param who the name',
    ' * @default what',
    ' */',
    '// biome-ignore lint/a/b: the API needs the name',
    '//   who ──► somebody',
    '//',
    '//     nobody(who)',
    '',
  ];
  expect(await broken(source.join('\n'), 'x.ts')).toEqual([]);
});

test('reports lines above their width, except tables, fences and long tokens', async () => {
  const lines = async (source, path) => (await broken(source, path)).filter((found) => found.includes('width'));
  const long = (width) =>
    'ab '
      .repeat(Math.ceil(width / 3))
      .slice(0, width - 1)
      .concat('b');
  expect(await lines(`// ${long(97)}\n// ${long(98)}\n`, 'x.ts')).toEqual(['2 comment-width']);
  expect(await lines(`${long(130)}\n${long(131)}\n`, 'x.ts')).toEqual(['2 code-width']);
  const markdown = `${'ab '.repeat(54)}\n\n| ${long(170)} |\n|---|\n\n\`\`\`\n${long(170)}\n\`\`\`\n\nhttps://${'x'.repeat(170)}\n`;
  expect(await lines(markdown)).toEqual(['1 markdown-width']);
});

test('wraps comments that are too wide and keeps lists, tags and drawings', () => {
  const words = 'word '.repeat(30).trim();
  const wrapped = wrap(`  // ${words}\n  // - ${words}\n  // x ──► y\n`, 'script', 'x.ts');
  expect(wrapped.split('\n').every((line) => line.length <= 100)).toBe(true);
  expect(wrapped).toMatch(/^ {2}\/\/ word/);
  expect(wrapped).toMatch(/\n {2}\/\/ - word.*\n {2}\/\/ {3}word/);
  expect(wrapped).toMatch(/\n {2}\/\/ x ──► y\n$/);
  const block = wrap(`/** ${words} */\n`, 'script', 'x.ts');
  expect(block).toMatch(/^\/\*\*\n \* word.*\n \* word.*\n \*\/\n$/);
  expect(wrap(block, 'script', 'x.ts')).toBe(block);
  expect(wrap(`/* ${words} */\nint x;\n`, 'c', 'x.c')).toMatch(/^\/\* word.*\n {3}word.* \*\/\nint x;\n$/);
});

test('splits documents into sentences with their lines', async () => {
  expect(await docSentences('x.md', 'One, e.g. This `a.b`. Two\nthree.\n\nFour [five](x.md).')).toEqual([
    { line: 1, text: 'One, e.g. This `a.b`.' },
    { line: 1, text: 'Two\nthree.' },
    { line: 4, text: 'Four [five](x.md).' },
  ]);
});

test('draws without repetition, and the same pieces for one seed', async () => {
  expect(draw(['a', 'b', 'c'], 5, Math.random)).toEqual(['a', 'b', 'c']);
  const files = allFiles().filter((path) => /^(docs\/design.md$|scripts\/prose\/)/.test(path));
  const first = await sample({ comments: 10, docs: 3, seed: 7, files });
  expect([first.comments.length, first.docs.length]).toEqual([10, 3]);
  expect(await sample({ comments: 10, docs: 3, seed: 7, files })).toEqual(first);
  expect(await sample({ comments: 10, docs: 3, seed: 8, files })).not.toEqual(first);
});
