// Reads the command line of `sh` and `bash`. Next: index.js.

const SWITCHES = {
  e: 'errexit',
  u: 'nounset',
  x: 'xtrace',
  v: 'verbose',
  n: 'noexec',
  a: 'allexport',
  f: 'noglob',
  C: 'noclobber',
};
const LONG = /^--(?:login|norc|noprofile|posix|restricted|noediting|verbose)$/;
const WITH_VALUE = /^--(?:rcfile|init-file)$/;

/**
 * Returns `{ options, start, script | file | fromInput, name, args }`, `{ version: true }`, or
 * `{ bad }`, the reason of a failure. `start` selects the files that the shell runs first
 * (start-up.js), and `start.isInteractive` is true for `-i`.
 */
export function readCommandLine([called, ...line]) {
  const options = {};
  const start = { isLogin: called.startsWith('-'), isInteractive: false, noProfile: false, noRc: false, rcFile: undefined };
  let command = false;
  let fromInput = false;
  let i = 0;
  for (; i < line.length; i++) {
    const word = line[i];
    if (word === '--' || word === '-') {
      i++;
      break;
    }
    if (LONG.test(word)) {
      start.isLogin ||= word === '--login';
      start.noProfile ||= word === '--noprofile';
      start.noRc ||= word === '--norc';
      continue;
    }
    if (WITH_VALUE.test(word)) {
      start.rcFile = line[++i];
      continue;
    }
    if (word === '--version') return { version: true };
    if (!/^[-+]./.test(word)) break;
    if (word.startsWith('--')) return { bad: `${word}: invalid option` };
    for (const letter of word.slice(1)) {
      if (letter === 'c') command = true;
      else if (letter === 's') fromInput = true;
      else if (letter === 'i') start.isInteractive = true;
      else if (letter === 'l') start.isLogin = true;
      else if (letter === 'o' || letter === 'O') {
        const name = line[++i];
        if (letter === 'o') options[name] = word.startsWith('-');
      } else if (letter in SWITCHES) options[SWITCHES[letter]] = word.startsWith('-');
      else if (!'hmpBEHPTbkrt'.includes(letter)) return { bad: `-${letter}: invalid option` };
    }
  }
  const rest = line.slice(i);
  if (command) {
    if (rest.length === 0) return { bad: '-c: option requires an argument' };
    const [script, name = called, ...args] = rest;
    return { options, start, script, name, args };
  }
  if (fromInput || rest.length === 0) return { options, start, fromInput: true, name: called, args: rest };
  const [file, ...args] = rest;
  return { options, start, file, name: file, args };
}
