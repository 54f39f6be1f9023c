// Tests that the build stops with the difference if a new version of Node changes a binding that
// the guest implements.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inputsDir } from '../../build/paths.mjs';
import { checkSurface, differences, readSurface, surfaceOf } from '../../build/surface.mjs';

const fn = { t: 'f', l: 0, n: 'x' };
const shapes = {
  fs: { t: 'o', v: { access: fn, statValues: { t: 'ta', k: 'Float64Array', l: 36 } } },
  tls_wrap: { t: 'o', v: { TLSWrap: { t: 'f', l: 0, n: 'TLSWrap', cls: { m: ['start'], chain: ['close'] } } } },
  __options: { t: 'o', v: { '--x': { t: 'b', v: true } } },
};

describe("the surface of Node's bindings", () => {
  it('has a line for each function, class and array', () => {
    expect(surfaceOf(shapes)).toEqual([
      'fs.access function',
      'fs.statValues Float64Array(36)',
      'tls_wrap.TLSWrap class: close start',
    ]);
  });

  it('equals the surface of the pinned Node', () => {
    const now = surfaceOf(JSON.parse(readFileSync(join(inputsDir, 'lib', 'shapes.json'), 'utf8')));
    expect(differences(readSurface(), now)).toEqual([]);
  });

  it('stops the build with the changes of a binding that we implement', () => {
    const recorded = ['fs.access function', 'fs.gone function', 'fs.statValues Float64Array(18)', 'tls_wrap.TLSWrap function'];
    const check = () => checkSurface(shapes, { recorded, implemented: new Set(['fs']) });
    expect(check).toThrow(
      '    - fs.gone function\n    - fs.statValues Float64Array(18)\n    + fs.statValues Float64Array(36)\nHandle each line',
    );
    expect(() => checkSurface(shapes, { recorded, implemented: new Set(['os']) })).not.toThrow();
  });
});
