// Replaces the format `url` of JSON Schemas. The validator's regular expression for this format
// needs exponential time. An input of a hostile guest with 40 characters would block this process
// for minutes. The pattern of this file needs linear time and accepts equal texts. These are the
// `http`, `https` and `ftp` URLs with a public IPv4 address or with a name that has a dot. Next:
// `validator.ts`.

import type * as Library from '@cfworker/json-schema';
import { isApplied } from './schema-check.js';

const LETTER = 'a-zA-Z\\u00a1-\\uffff';
const SCHEME = '(?:[hH][tT][tT][pP][sS]?|[fF][tT][pP])://';
const USER = '(?:\\S+@)?';
const PRIVATE = '10(?:\\.\\d{1,3}){3}|127(?:\\.\\d{1,3}){3}|169\\.254(?:\\.\\d{1,3}){2}|192\\.168(?:\\.\\d{1,3}){2}';
const ADDRESS =
  `(?!${PRIVATE}|172\\.(?:1[6-9]|2\\d|3[01])(?:\\.\\d{1,3}){2})` +
  '(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3])(?:\\.(?:1?\\d{1,2}|2[0-4]\\d|25[0-5])){2}\\.(?:[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-4])';
const LABEL = `[${LETTER}0-9]+(?:-[${LETTER}0-9]+)*`;
const NAME = `${LABEL}(?:\\.${LABEL})*\\.[${LETTER}]{2,}`;
const REST = '(?::\\d{2,5})?(?:/\\S*)?';

/** The pattern of the format `url`. */
export const URL_PATTERN = `^${SCHEME}${USER}(?:${ADDRESS}|${NAME})${REST}$`;

/** Replaces the format `url` in all parts of `schema` that the validator evaluates. */
export function replaceSlowFormats(library: typeof Library, schema: Library.Schema): void {
  for (const [address, part] of Object.entries(library.dereference(schema))) {
    if (typeof part !== 'object' || part.format !== 'url' || !isApplied(library, address)) continue;
    delete part.format;
    // The pattern is for texts. A format accepts all other values, and so does a pattern.
    part.allOf = [...(part.allOf ?? []), { pattern: URL_PATTERN }];
  }
}
