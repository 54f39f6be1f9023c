// Checks options that only this module has. All other options are passed on, and the SDK checks
// them. The SDK's option tables have the same kind of rules. Next: `class-options.ts`,
// `vm-options.ts`.

import { invalidOption } from '../errors/make.js';
import type { Rule } from '../options/rule.js';
import { show } from '../options/show.js';

/** Throws `ERR_INVALID_OPTION` for the first fault of `options`. */
export function checkOptions(call: string, rule: Rule, options: unknown): void {
  const fault = rule.fault(options);
  if (fault === undefined) return;
  const option = fault.path.length === 0 ? 'options' : fault.path.map(String).join('.');
  throw invalidOption(call, { option, expected: fault.expected, received: show(fault.received) }, fault.hint);
}
