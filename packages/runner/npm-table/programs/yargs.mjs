// yargs: commands, types, defaults and help.

import yargs from 'yargs';

const parser = () => yargs([]).scriptName('tool').exitProcess(false).wrap(80).version(false);
const serve = (y) => y.positional('port', { type: 'number', default: 80, describe: 'where' });
const argv = await parser()
  .option('v', { alias: 'verbose', type: 'count' })
  .option('tag', { type: 'array', string: true })
  .parse(['-vv', '--tag', '1', '2', '--no-color', '--size.width=3', '--', 'rest']);
console.log(JSON.stringify(argv));
await parser()
  .command('serve [port]', 'start', serve, (args) => console.log('serving', args.port))
  .parse(['serve', '8080']);
console.log(await parser().command('serve [port]', 'start', serve).getHelp());
await parser()
  .demandOption('name')
  .fail((message) => console.log('failed:', message))
  .parse([]);
