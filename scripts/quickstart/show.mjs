// Prints the program's output under each mode's name, then one table.

// A reader such as `head` may close the pipe early, which is no failure.
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

const print = (text) => process.stdout.write(`${text}\n`);

const indent = (text) => text.replace(/\n$/, '').replace(/^/gm, '    ');

const milliseconds = (value) => value.toFixed(value < 10 ? 3 : 1);

/**
 * Prints a mode's output. `earlier` holds the results of earlier modes: equal outputs are printed
 * once.
 */
export function show(program, mode, result, earlier) {
  if (earlier.length === 0) print(`${program.name}\n`);
  print(`${mode.name}: ${mode.what}`);
  const isSame = ({ stdout, stderr, exitCode }) =>
    stdout === result.stdout && stderr === result.stderr && exitCode === result.exitCode;
  const same = earlier.find(isSame);
  if (same) print(`    (the same output as ${same.name})`);
  else showOutcome(result);
  print('');
}

function showOutcome({ stdout, stderr, exitCode, error }) {
  if (stdout) print(indent(stdout));
  if (stderr) print(indent(stderr));
  if (!stdout && !stderr) print('    (no output)');
  if (error) print(`    ended by the sandbox: ${error.code}: ${error.message}`);
  if (exitCode !== 0) print(`    exit code ${exitCode}`);
}

export function showTimings(results, nodeMs) {
  const head = ['ms', 'create', 'first exec', 'both', 'warm exec', 'runs', 'sidecar start'];
  const rows = results.map(({ name, timing: { createMs, firstMs, warmMs }, rounds, openMs }) => [
    name,
    ...[createMs, firstMs, createMs + firstMs, warmMs].map(milliseconds),
    `${rounds}`,
    name === 'owned' ? 'in create' : milliseconds(openMs),
  ]);
  rows.push(['node -e 1', '', '', milliseconds(nodeMs), '', '5', '']);
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
  const line = (cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd();
  print([head, ...rows].map(line).join('\n'));
  print('\nMedians. "warm exec" is a second program in the same runtime; "node -e 1" is a Node process without any sandbox.');
}
