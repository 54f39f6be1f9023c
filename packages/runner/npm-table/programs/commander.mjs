// commander: options, subcommands, help and errors.

import { Command, Option } from 'commander';

const program = new Command('tool');
program.version('1.2.3').description('does things').exitOverride();
program.configureOutput({
  writeOut: (text) => process.stdout.write(text),
  writeErr: (text) => process.stdout.write(`err: ${text}`),
});
program
  .command('copy <from> [to...]')
  .description('copy a file')
  .option('-f, --force', 'overwrite')
  .addOption(new Option('-l, --level <n>', 'how much').choices(['1', '2']).default('1'))
  .action((from, to, options) => console.log('copy', from, to, options));
program.parse(['copy', 'a', 'b', 'c', '-f', '--level', '2'], { from: 'user' });
for (const args of [['copy', 'a', '-l', '9'], ['copi'], ['--version'], ['copy', '--help']]) {
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    console.log(error.code, error.exitCode);
  }
}
