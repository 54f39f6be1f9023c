// Tests the recognition of incomplete shell commands.

import { expect, test } from 'vitest';
import { isIncomplete } from '../../src/command/shell-input.js';

test.each([
  'if true; then',
  'for i in 1 2; do\necho $i',
  'while read x',
  'case a in',
  'echo "a',
  "echo 'a",
  'echo `ls',
  'echo a \\',
  'cat <<END\nline',
  'cat <<END',
  'f() {',
  '(cd /tmp',
  'echo $(ls',
  'ls |',
  'true &&',
  'if true; then if false; then echo; fi',
])('%j needs more lines', (text) => {
  expect(isIncomplete(text)).toBe(true);
});

test.each([
  'echo if',
  'echo done',
  'if true; then echo; fi',
  'for i in 1 2; do echo $i; done',
  'case a in a) echo;; b) ;; esac',
  "echo 'it is'",
  'echo "a\\"b"',
  'cat <<END\nif\nEND',
  "cat <<'END'\n$(\nEND\necho",
  'cat <<< word',
  'f() { echo; }',
  '(cd /tmp; ls)',
  'echo $((1 + 2))',
  '# if',
  'echo a # (',
  'ls &',
  'fi',
])('%j is complete', (text) => {
  expect(isIncomplete(text)).toBe(false);
});
