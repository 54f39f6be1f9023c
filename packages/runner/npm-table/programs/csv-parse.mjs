// csv-parse: records from text and from a stream.

import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';

const text = 'name,count\n"a ""quoted"", x",1\nb,2\n\n c ,3\n';
console.log(
  parseSync(text, {
    columns: true,
    skip_empty_lines: true,
    trim: true,
    cast: (value, { column }) => (column === 'count' ? Number(value) : value),
  }),
);
for await (const record of Readable.from([text.slice(0, 17), text.slice(17)]).pipe(
  parse({ from_line: 2, skip_empty_lines: true }),
)) {
  console.log(record);
}
try {
  parseSync('a,b\n1,2,3');
} catch (error) {
  console.log(error.code, error.message);
}
