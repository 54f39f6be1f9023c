// Returns the TypeScript plugin of acorn from its pinned npm package. The text is the body of a
// function with the parameters `(require, module)`. The dependencies of Node's library include
// acorn itself. Next: bootstrap/typescript/, which uses the plugin.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const IMPORT = 'import * as acornNamespace from "acorn";';
const EXPORT = /export \{\s*tsPlugin\s*\};/;

export function readTypeScriptParser() {
  const source = readFileSync(fileURLToPath(import.meta.resolve('@sveltejs/acorn-typescript')), 'utf8');
  if (!source.includes(IMPORT) || !EXPORT.test(source))
    throw new Error('@sveltejs/acorn-typescript differs from its pinned version');
  return source.replace(IMPORT, "const acornNamespace = require('acorn');").replace(EXPORT, 'module.exports = { tsPlugin };');
}
