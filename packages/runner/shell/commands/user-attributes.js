// setfattr and getfattr: user attributes of files (`user.*`). Node has no functions for attributes.
// Next: ../commands.js.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { posix } from 'node:path';

const fail = (stderr, exitCode = 2) => ({ stdout: '', stderr: `${stderr}\n`, exitCode });
const MESSAGES = {
  '-2': 'No such file or directory',
  '-13': 'Permission denied',
  '-61': 'No such attribute',
  '-95': 'Operation not supported',
};
const reason = (error) => MESSAGES[error] ?? kernel.describe(error).replace(/^./, (first) => first.toUpperCase());

// Decodes a value: text, `0x` and hexadecimal digits, `0s` and base64, or a text in quotes.
function decoded(text) {
  if (/^0[xX](?:[0-9a-fA-F]{2})*$/.test(text)) return Buffer.from(text.slice(2), 'hex');
  if (/^0[sS]/.test(text)) return Buffer.from(text.slice(2), 'base64');
  const [, quoted] = /^"(.*)"$/s.exec(text) ?? [];
  // A backslash precedes three octal digits or a character.
  const bytes = (quoted ?? text).replace(/\\([0-7]{3}|.)/gs, (_, code) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : code,
  );
  return Buffer.from(bytes, 'utf8');
}

const ENCODINGS = {
  text: (value) => `"${value.toString('utf8').replace(/["\\]/g, '\\$&')}"`,
  hex: (value) => `0x${value.toString('hex')}`,
  base64: (value) => `0s${value.toString('base64')}`,
};

// Returns whether a value is shown as text: UTF-8 without control characters.
function isText(value) {
  const text = value.toString('utf8');
  return Buffer.from(text).equals(value) && !/\p{Cc}/u.test(text);
}

// Parses options. `withValue` maps a letter or a long name to the field that receives its value.
function parse(args, withValue, flags) {
  const read = { paths: [] };
  const rest = [...args];
  while (rest.length > 0) {
    const word = rest.shift();
    const [, name, attached] = /^--?([a-z-]+?)(?:=(.*))?$/s.exec(word) ?? [];
    const letter = /^-[a-z]./s.test(word) && !word.startsWith('--') ? word[1] : undefined;
    if (word === '--') read.paths.push(...rest.splice(0));
    else if (letter !== undefined && withValue[letter]) read[withValue[letter]] = word.slice(2);
    else if (name !== undefined && withValue[name]) read[withValue[name]] = attached ?? rest.shift();
    else if (name !== undefined && flags[name]) read[flags[name]] = true;
    else if (word.startsWith('-') && word !== '-') return { bad: word };
    else read.paths.push(word);
  }
  return read;
}

/** Runs `setfattr {-n NAME [-v VALUE] | -x NAME} [-h] FILE...`. */
export function setfattr(args, { cwd }) {
  const values = { n: 'name', name: 'name', v: 'value', value: 'value', x: 'removed', remove: 'removed' };
  const read = parse(args, values, { h: 'stays', 'no-dereference': 'stays' });
  if (read.bad !== undefined) return fail(`setfattr: unrecognized option '${read.bad}'`);
  if ((read.name === undefined) === (read.removed === undefined) || read.paths.length === 0)
    return fail('Usage: setfattr {-n name} [-v value] [-h] file...\n       setfattr {-x name} [-h] file...');
  let stderr = '';
  for (const path of read.paths) {
    const whole = posix.resolve(cwd, path);
    const result =
      read.removed === undefined
        ? kernel.setAttribute(whole, read.name, decoded(read.value ?? ''), !read.stays)
        : kernel.removeAttribute(whole, read.removed, !read.stays);
    if (result < 0) stderr += `setfattr: ${path}: ${reason(result)}\n`;
  }
  return { stdout: '', stderr, exitCode: stderr === '' ? 0 : 1 };
}

function everyPath(path, isRecursive) {
  if (!isRecursive || !fs.lstatSync(path).isDirectory()) return [path];
  return [path, ...fs.readdirSync(path).flatMap((name) => everyPath(posix.join(path, name), true))];
}

/**
 * Runs `getfattr [-n NAME | -d] [-m PATTERN] [-e text|hex|base64] [--only-values] [-R] [-h]
 * FILE...`.
 */
export function getfattr(args, { cwd }) {
  const values = { n: 'name', name: 'name', m: 'pattern', match: 'pattern', e: 'encoding', encoding: 'encoding' };
  const flags = {
    d: 'dump',
    dump: 'dump',
    h: 'stays',
    'no-dereference': 'stays',
    'only-values': 'only',
    R: 'all',
    recursive: 'all',
    'absolute-names': 'absolute',
  };
  const read = parse(args, values, flags);
  if (read.bad !== undefined) return fail(`getfattr: unrecognized option '${read.bad}'`);
  if (read.paths.length === 0) return fail('Usage: getfattr [-hRLP] [-n name|-d] [-e en] [-m pattern] path...');
  const pattern = new RegExp(read.pattern === undefined || read.pattern === '-' ? '^user\\.' : read.pattern);
  const result = { stdout: '', stderr: '', exitCode: 0 };
  const complain = (path, what) => {
    result.stderr += `${path}: ${what}\n`;
    result.exitCode = 1;
  };
  for (const operand of read.paths) {
    const top = posix.resolve(cwd, operand);
    if (!fs.existsSync(top)) {
      complain(`getfattr: ${operand}`, 'No such file or directory');
      continue;
    }
    for (const path of everyPath(top, read.all))
      show(path, path === top ? operand : posix.join(operand, posix.relative(top, path)));
  }
  return { ...result, stdoutKind: read.only ? 'bytes' : undefined };

  function show(path, shown) {
    const names = read.name === undefined ? kernel.attributeNames(path, !read.stays) : [];
    if (typeof names === 'number') return names === -95 ? undefined : complain(shown, reason(names));
    const wanted =
      read.name === undefined
        ? Buffer.from(names)
            .toString('utf8')
            .split('\0')
            .filter((name) => name !== '' && pattern.test(name))
        : [read.name];
    let lines = '';
    for (const name of wanted) {
      const bytes = kernel.attribute(path, name, !read.stays);
      if (typeof bytes === 'number') {
        complain(shown, `${name}: ${reason(bytes)}`);
        continue;
      }
      const value = Buffer.from(bytes);
      if (read.only) result.stdout += value.toString('latin1');
      else if (read.name === undefined && !read.dump) lines += `${name}\n`;
      else lines += `${name}=${(ENCODINGS[read.encoding] ?? (isText(value) ? ENCODINGS.text : ENCODINGS.base64))(value)}\n`;
    }
    if (lines !== '') result.stdout += `# file: ${read.absolute ? shown : shown.replace(/^\/+/, '')}\n${lines}\n`;
    return undefined;
  }
}
