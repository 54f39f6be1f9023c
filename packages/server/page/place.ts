// The address of the page: which sandbox and which part of the sandbox the page shows. The address
// is the part of the URL behind `#`, so the server never sees it, and it has no key.

import { useEffect, useState } from 'preact/hooks';

/** The parts of a sandbox's view. */
export const TABS = ['overview', 'files', 'terminal', 'logs', 'snapshots', 'ports'] as const;

/** A part of a sandbox's view. */
export type Tab = (typeof TABS)[number];

/** The content of the page. Without an id, the page shows the list. */
export interface Address {
  id: string | undefined;
  tab: Tab;
}

/** Returns the URL of an address. */
export const hrefOf = (id: string | undefined, tab: Tab = 'overview'): string =>
  id === undefined ? '#/' : `#/${encodeURIComponent(id)}/${tab}`;

function addressNow(): Address {
  const [, id = '', tab = ''] = location.hash.split('/');
  const known = TABS.find((one) => one === tab) ?? 'overview';
  return { id: id === '' ? undefined : decodeURIComponent(id), tab: known };
}

/** Returns the present address, also after a change. */
export function useAddress(): Address {
  const [address, setAddress] = useState(addressNow);
  useEffect(() => {
    const change = (): void => setAddress(addressNow());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return address;
}
