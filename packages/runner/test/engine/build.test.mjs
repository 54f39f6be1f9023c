// Tests the linked module. The image builder checks the other rules of the ABI
// (packages/sidecar/crates/imager/src/module).
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { guestPath } from '../../build/paths.mjs';

it('imports only the functions of the ABI', () => {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(guestPath)));
  expect([...new Set(imports.map(({ module, kind }) => `${kind} of ${module}`))]).toEqual(['function of coldframe']);
});
