// chalk: colours at each level.

import { Chalk, chalkStderr, supportsColor } from 'chalk';

for (const level of [0, 1, 2, 3]) {
  const chalk = new Chalk({ level });
  const text = [chalk.red('red'), chalk.bold.underline.bgHex('#123456')('bold'), chalk.rgb(1, 2, 3)(`a${chalk.green('b')}c`)];
  console.log(level, JSON.stringify(text.join(' ')));
}
console.log(JSON.stringify(new Chalk({ level: 1 }).blue('two\nlines')), supportsColor, chalkStderr.level);
