// Converts the rules of a private network to a message. Next: `network.ts`.

import { type NetworkRule, portRange } from '../options/private-network.js';
import type { NetworkRuleOptions } from '../protocol/generated/messages.js';

/** Converts checked rules. */
export function wireRules(rules: readonly NetworkRule[] | undefined): NetworkRuleOptions[] | undefined {
  return rules?.map(({ from, to, ports }) => ({
    from,
    to,
    ports: ports?.map((port) => {
      const [first, last] = portRange(port);
      return { first, last };
    }),
  }));
}
