// Derives the result of a test file from its end. A file that skips itself has tested nothing, so a
// skip is no pass.

import { root } from '../build/paths.mjs';

const SKIPPED = /^1\.\.0 # skip/im;

const MAX_REASON = 160;

/** Returns the line that names the error, without frames and quoted source. */
export function reasonOf(stderr) {
  const lines = stderr.split('\n').map((line) => line.trimEnd());
  const named = lines.find((line) => /^(?:Uncaught )?[A-Za-z]*(?:Error|Exception)\b.*:/.test(line) || /^Mismatched /.test(line));
  const thrown = lines.find((line) => /^\s*code: '|^Error\b/.test(line));
  const any = lines.find(
    (line) => line !== '' && !/^\s*at |^\(node:|^\(Use `node|^\s*\^+$|^(?:file|node):|^Node\.js v/.test(line),
  );
  return shorten(named ?? thrown ?? any ?? '');
}

// Removes this machine's paths and process ids from a line, because the report must not differ
// between runs. Also shortens the line to MAX_REASON characters.
const shorten = (line) => {
  const text = line
    .trim()
    .replaceAll(/\(node:\d+\)/g, '(node)')
    .replaceAll(root, '…')
    .replaceAll(/\/tmp\/conformance-\w+/g, '/tmp/…');
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON - 1)}…` : text;
};

/**
 * Returns `{ result, reason }` of a file that ended by itself (`exitCode`, or `signal`), was
 * stopped (`timedOut`) or could not run (`error`).
 */
export function resultOf({ exitCode, signal, timedOut, error, stdout = '', stderr = '' }) {
  if (timedOut) return { result: 'timeout', reason: reasonOf(stderr) || 'it did not end' };
  if (error !== undefined) return { result: 'fail', reason: shorten(`${error.code ?? error.name}: ${error.message}`) };
  if (exitCode === 0 && SKIPPED.test(stdout)) {
    const [, why = ''] = /^1\.\.0 # skip[a-z]*:?(.*)$/im.exec(stdout) ?? [];
    return { result: 'skip', reason: shorten(why) };
  }
  if (exitCode === 0) return { result: 'pass', reason: '' };
  return { result: 'fail', reason: reasonOf(stderr) || (signal ? `ended by ${signal}` : `exit code ${exitCode}`) };
}
