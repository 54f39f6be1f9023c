// Tests that no native reads an argument that its row in the tables of natives does not promise.
//
// The engine fills missing arguments with undefined up to the number in the row. A native that
// reads a further argument reads another value of the engine's stack. The test reads the C, because
// most such reads find a harmless value.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageDir } from '../../build/paths.mjs';

const shim = join(packageDir, 'engine', 'shim');

/**
 * Returns the functions and the rows of C text. A row has the name that JavaScript uses, the
 * function and the number of arguments.
 */
function parse(text) {
  const functions = new Map();
  const definition =
    /^(?:(?:LIBRARY_)?NATIVE\((\w+)\)|static [\w *]*?(\w+)\([^;{}]*\bargv\b[^;{}]*\))(?:\n\{\n([\s\S]*?)^\}| \{(.*)\}$)/gm;
  for (const [, native, helper, block, line] of text.matchAll(definition)) functions.set(native ?? helper, block ?? line);
  const rows = Array.from(text.matchAll(/\{ "(\w+)", (\w+), (\d+) \}/g), ([, name, fn, count]) => ({
    name,
    fn,
    count: Number(count),
  }));
  return { functions, rows };
}

/** Returns the number of arguments that a function reads by itself and through its helpers. */
function argumentsRead(functions, name) {
  const body = functions.get(name);
  const own = Array.from(body.matchAll(/\bargv\[(\d+)\]/g), ([, index]) => Number(index) + 1);
  const passed = Array.from(body.matchAll(/\b(\w+)\([^;]*?\bargv(?: \+ (\d+))?[,)]/g), ([, helper, offset]) =>
    functions.has(helper) ? argumentsRead(functions, helper) + Number(offset ?? 0) : 0,
  );
  return Math.max(0, ...own, ...passed);
}

/** Returns a line for each row whose function is not found or reads more than the row promises. */
function faults({ functions, rows }) {
  return rows.flatMap(({ name, fn, count }) => {
    if (!functions.has(fn)) return [`${name}: no function ${fn}`];
    const read = argumentsRead(functions, fn);
    return read > count ? [`${name} promises ${count} arguments and reads ${read}`] : [];
  });
}

it('each native reads only the arguments that its table promises', () => {
  const text = readdirSync(shim)
    .filter((file) => file.endsWith('.c'))
    .map((file) => readFileSync(join(shim, file), 'utf8'))
    .join('\n');
  const parsed = parse(text);
  expect(parsed.rows.length).toBeGreaterThan(100);
  expect(faults(parsed)).toEqual([]);
});

it('a read beyond the promised arguments is found, in a helper too', () => {
  const text = `
static JSValue helper(JSContext *ctx, JSValueConst *argv)
{
    return JS_DupValue(ctx, argv[1]);
}
NATIVE(direct)
{
    return JS_DupValue(ctx, argv[2]);
}
LIBRARY_NATIVE(through) { return helper(ctx, argv + 1); }
NATIVE(right) { return helper(ctx, argv); }
 { "direct", direct, 2 }, { "through", through, 2 }, { "right", right, 2 }, { "none", none, 0 },
`;
  expect(faults(parse(text))).toEqual([
    'direct promises 2 arguments and reads 3',
    'through promises 2 arguments and reads 3',
    'none: no function none',
  ]);
});
