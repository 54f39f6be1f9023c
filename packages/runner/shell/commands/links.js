// ln. The command of just-bash follows the new name when it looks for an existing file, so `-f`
// replaces no link without a target. Next: machine.js, which has `install`.

import fs from 'node:fs';
import { posix } from 'node:path';
import { reasonOf } from '../reasons.js';
import { readOptions } from './options.js';

const fail = (stderr) => ({ stdout: '', stderr: `${stderr}\nTry 'ln --help' for more information.\n`, exitCode: 1 });

const LONG = {
  '--symbolic': '-s',
  '--force': '-f',
  '--no-dereference': '-n',
  '--no-target-directory': '-T',
  '--target-directory': '-t',
  '--verbose': '-v',
  '--relative': '-r',
  '--logical': '-L',
  '--physical': '-P',
};
const LETTERS = 'sfnTtvrLP';

const statusOf = (path, follows) => (follows ? fs.statSync : fs.lstatSync)(path, { throwIfNoEntry: false });

export function ln(args, { cwd }) {
  const { options, operands } = readOptions(args, 't', LONG);
  const unknown = [...options.keys()].find((letter) => !LETTERS.includes(letter));
  if (unknown?.startsWith('--')) return fail(`ln: unrecognized option '${unknown}'`);
  if (unknown !== undefined) return fail(`ln: invalid option -- '${unknown}'`);
  const into = options.get('t');
  if (into === '') return fail("ln: option requires an argument -- 't'");
  if (operands.length === 0) return fail('ln: missing file operand');
  const at = (path) => posix.resolve(cwd, path);
  const isFolder = (path) => !options.has('T') && statusOf(at(path), !options.has('n'))?.isDirectory() === true;
  let folder = into;
  let targets = operands;
  if (into === undefined && operands.length === 1) folder = '.';
  else if (into === undefined && (operands.length > 2 || isFolder(operands[1]))) {
    folder = operands.at(-1);
    targets = operands.slice(0, -1);
  }
  if (folder === undefined) return made([[operands[0], operands[1]]], options, at);
  if (!isFolder(folder))
    return fail(`ln: target '${folder}': ${statusOf(at(folder), true) ? 'Not a directory' : 'No such file or directory'}`);
  return made(
    targets.map((target) => [target, posix.join(folder, posix.basename(target))]),
    options,
    at,
  );
}

// Makes the links `[target, name]`. A link that fails does not stop the next link.
function made(links, options, at) {
  const result = { stdout: '', stderr: '', exitCode: 0 };
  const isSymbolic = options.has('s');
  const arrow = isSymbolic ? '->' : '=>';
  for (const [target, name] of links) {
    const text = options.has('r') && isSymbolic ? posix.relative(posix.dirname(at(name)), at(target)) : target;
    try {
      if (!isSymbolic && statusOf(at(target), false) === undefined) {
        throw Object.assign(new Error(), { ln: `failed to access '${target}': No such file or directory` });
      }
      link(isSymbolic ? text : at(target), at(name), isSymbolic, options.has('f'), name);
      if (options.has('v')) result.stdout += `'${name}' ${arrow} '${text}'\n`;
    } catch (error) {
      const isOfName = isSymbolic || ['EEXIST', 'ENOSPC', 'EROFS'].includes(error.code);
      const kind = `${isSymbolic ? 'symbolic' : 'hard'} link '${name}'${isOfName ? '' : ` => '${target}'`}`;
      result.stderr += `ln: ${error.ln ?? `failed to create ${kind}: ${reasonOf(error)}`}\n`;
      result.exitCode = 1;
    }
  }
  return result;
}

// Makes a link. With `replaces`, a rename replaces an existing file, so the name always exists.
function link(target, path, isSymbolic, replaces, shown) {
  const make = (name) => (isSymbolic ? fs.symlinkSync(target, name) : fs.linkSync(target, name));
  try {
    make(path);
    return;
  } catch (error) {
    if (error.code !== 'EEXIST' || !replaces) throw error;
  }
  if (fs.lstatSync(path).isDirectory()) throw Object.assign(new Error(), { ln: `${shown}: cannot overwrite directory` });
  const own = `${path}.${process.pid}.ln`;
  make(own);
  try {
    fs.renameSync(own, path);
  } finally {
    // A rename between two names of one file leaves both names.
    fs.rmSync(own, { force: true });
  }
}
