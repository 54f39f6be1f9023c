// dotenv: variables from a file.

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import dotenv from 'dotenv';

const path = join(tmpdir(), 'dotenv-test.env');
writeFileSync(path, 'A=1\nB="two\\nlines" # comment\nexport C=\'$A\'\nEMPTY=\n# no\nD = spaced \nE=`a "b" c`\nTAKEN=new\n');
process.env.TAKEN = 'old';
const { parsed } = dotenv.config({ path, quiet: true });
console.log(parsed, process.env.A, process.env.TAKEN);
console.log(dotenv.parse('X=1\r\nY=a=b\nZ'), dotenv.config({ path: '/nowhere', quiet: true }).error.code);
