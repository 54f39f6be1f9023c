// Helpers of the generated decoders. The SDK and the sidecar have equal versions, so a wrong body
// comes from a broken or a hostile sidecar. A wrong body fails with `ERR_PROTOCOL` and ends the
// connection.
// Next: `generated/decoders.ts`.

import { protocolError } from '../errors/make.js';

/** A map with unchecked fields. */
export type Fields = Record<string, unknown>;

/** Returns the error of a wrong field. */
export function wrong(at: string, field: string, expected: string): Error {
  return protocolError(`${at}.${field} is not ${expected}`);
}

/** Returns the value as a map. Throws `ERR_PROTOCOL` for any other value. */
export function fields(value: unknown, at: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) {
    throw protocolError(`${at} is not a map`);
  }
  return value as Fields;
}

/** Checks that the field is a whole number from 0. */
export function natural(map: Fields, at: string, field: string): void {
  if (!isNatural(map[field])) throw wrong(at, field, 'a whole number from 0');
}

/** Checks that the field is a whole number. */
export function whole(map: Fields, at: string, field: string): void {
  if (!Number.isInteger(map[field])) throw wrong(at, field, 'a whole number');
}

/** Checks that the field is text. */
export function text(map: Fields, at: string, field: string): void {
  if (typeof map[field] !== 'string') throw wrong(at, field, 'text');
}

/** Checks that the field is true or false. */
export function flag(map: Fields, at: string, field: string): void {
  if (typeof map[field] !== 'boolean') throw wrong(at, field, 'true or false');
}

/** Checks that the field is binary data. */
export function binary(map: Fields, at: string, field: string): void {
  if (!(map[field] instanceof Uint8Array)) throw wrong(at, field, 'binary');
}

/** Checks that the field is one of `values`. */
export function oneOf(map: Fields, at: string, field: string, values: ReadonlySet<unknown>): void {
  if (!values.has(map[field])) throw wrong(at, field, `one of ${[...values].join(', ')}`);
}

/** Checks that the field is a list of texts. */
export function texts(map: Fields, at: string, field: string): void {
  for (const entry of entries(map, at, field)) if (typeof entry !== 'string') throw wrong(at, field, 'a list of text');
}

/** Checks that the field is a list of whole numbers from 0. */
export function naturals(map: Fields, at: string, field: string): void {
  for (const entry of entries(map, at, field)) if (!isNatural(entry)) throw wrong(at, field, 'a list of whole numbers');
}

/** Checks that the field is a list of values of `values`. */
export function listOf(map: Fields, at: string, field: string, values: ReadonlySet<unknown>): void {
  for (const entry of entries(map, at, field)) {
    if (!values.has(entry)) throw wrong(at, field, `a list of ${[...values].join(', ')}`);
  }
}

/** Checks that the field is a list, and calls `check` for each entry. */
export function list(map: Fields, at: string, field: string, check: (entry: unknown, at: string) => unknown): void {
  const path = `${at}.${field}`;
  for (const entry of entries(map, at, field)) check(entry, path);
}

/** Checks that the field is a map of texts. */
export function textMap(map: Fields, at: string, field: string): void {
  const values = Object.values(fields(map[field], `${at}.${field}`));
  if (!values.every((value) => typeof value === 'string')) throw wrong(at, field, 'a map of text');
}

/** Checks that the field is a map of binary data. */
export function binaryMap(map: Fields, at: string, field: string): void {
  const values = Object.values(fields(map[field], `${at}.${field}`));
  if (!values.every((value) => value instanceof Uint8Array)) throw wrong(at, field, 'a map of binary data');
}

/** Checks that the field is a map of facts. A missing map becomes an empty map. */
export function details(map: Fields, at: string, field: string): void {
  if (map[field] === null || map[field] === undefined) map[field] = {};
  fields(map[field], `${at}.${field}`);
}

/** Accepts the reply of a request that returns nothing. */
export function done(): void {}

/** Checks that lists of a reply have one length, so that their entries belong together. */
export function assertSameLength(...lists: readonly (readonly unknown[])[]): void {
  if (!lists.every((list) => list.length === lists[0]?.length)) throw protocolError('reply is not lists of one length');
}

function isNatural(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function entries(map: Fields, at: string, field: string): readonly unknown[] {
  const value = map[field];
  if (!Array.isArray(value)) throw wrong(at, field, 'a list');
  return value;
}
