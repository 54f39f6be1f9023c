// Rules that several option tables of this module use.

import type { Rule } from '../options/rule.js';
import type { Option } from '../options/table.js';

/** Accepts every value. The SDK checks the option when it is passed on. */
export const PASSED_ON: Option = { expected: 'a value', fault: () => undefined };

/** Refuses every value. `instead` completes "expected no value: ...". */
export function without(instead: string): Rule {
  const expected = `no value: ${instead}`;
  return { expected, fault: (received) => ({ path: [], expected, received }) };
}

/** Accepts an empty list of ports. */
export const LOOPBACK_EXEMPT_PORTS: Rule = {
  expected: 'an empty list: programs of this module have no connections to the host machine or to other machines',
  fault(received) {
    if (Array.isArray(received) && received.length === 0) return undefined;
    return { path: [], expected: this.expected, received };
  },
};
