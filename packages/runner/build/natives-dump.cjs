// Runs inside the pinned Node and writes the sources of Node's own library into the given folder,
// as `<id>.js`, with `ids.json` (all ids) and `config.json`. Files that the guest can never load
// are omitted.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

// TypeScript stripping (a 3.3 MB wasm module as text) and V8's profiler tools.
const NEVER_LOADED = [/^internal\/deps\/amaro\//, /^internal\/deps\/v8\/tools\//];

const [target] = process.argv.slice(2);
const natives = process.binding('natives');
const ids = Object.keys(natives)
  .filter((id) => id !== 'config' && id !== 'configs')
  .sort();
for (const id of ids) {
  if (NEVER_LOADED.some((pattern) => pattern.test(id))) continue;
  const file = path.join(target, `${id}.js`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, natives[id]);
}
fs.writeFileSync(path.join(target, 'ids.json'), JSON.stringify(ids));
fs.writeFileSync(path.join(target, 'config.json'), JSON.stringify(process.config));
