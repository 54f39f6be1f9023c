// The options of the shell's own commands, as getopt reads them.

/**
 * Splits arguments into options by letter and operands. `valued` has the letters of options with a
 * value. `long` maps long names to `-` and the letter. A long name that is not in `long` is an
 * option by its own name. The value of a missing argument is empty.
 */
export function readOptions(args, valued, long = {}) {
  const options = new Map();
  const operands = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '--') return { options, operands: [...operands, ...args.slice(at + 1)] };
    if (!/^-./.test(word)) {
      operands.push(word);
      continue;
    }
    const [, name, value = ''] = /^(--[^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name !== undefined && !Object.hasOwn(long, name)) {
      options.set(name, value);
      continue;
    }
    const letters = name === undefined ? word : long[name] + value;
    for (let letter = 1; letter < letters.length; letter++) {
      if (valued.includes(letters[letter])) {
        options.set(letters[letter], letters.slice(letter + 1) || (args[++at] ?? ''));
        break;
      }
      options.set(letters[letter], '');
    }
  }
  return { options, operands };
}
