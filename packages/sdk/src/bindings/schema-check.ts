// Finds parts of a JSON Schema that cannot be evaluated. The validator reports an invalid part only
// when an input reaches that part. Next: `validator.ts`.

import type * as Library from '@cfworker/json-schema';

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);

/** Throws an error that names the first invalid part. */
export function checkSchema(library: typeof Library, schema: Library.Schema): void {
  const parts = library.dereference(schema);
  for (const [address, part] of Object.entries(parts)) {
    if (typeof part !== 'object' || !isApplied(library, address)) continue;
    const { $ref, __absolute_ref__: absolute = $ref, pattern, patternProperties = {}, type } = part;
    if (absolute !== undefined && parts[absolute] === undefined) throw new Error(`$ref "${$ref}" does not resolve`);
    for (const one of [pattern ?? '', ...Object.keys(patternProperties)]) new RegExp(one, 'u');
    const wrong = [type ?? []].flat().find((one) => !TYPES.has(one));
    if (wrong !== undefined) throw new Error(`there is no type "${wrong}"`);
  }
}

/**
 * Returns whether the validator evaluates the part at `address`. Each step of such an address is a
 * keyword, or a name or an index after a keyword. Below an unknown word such as `example`, any
 * value is allowed.
 */
export function isApplied({ schemaKeyword, schemaArrayKeyword, schemaMapKeyword }: typeof Library, address: string): boolean {
  const steps = (address.split('#')[1] ?? '').split('/').slice(1);
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as string;
    const isIndexed = Object.hasOwn(schemaArrayKeyword, step) && /^\d+$/.test(steps[at + 1] ?? '');
    if (Object.hasOwn(schemaMapKeyword, step) || isIndexed) at++;
    else if (!Object.hasOwn(schemaKeyword, step)) return false;
  }
  return true;
}
