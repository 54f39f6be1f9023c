// Opens listeners on the host machine that guests try to reach: TCP, a Unix socket, UDP. The
// listeners count arrivals.

import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

export interface Listeners {
  tcp: number;
  udp: number;
  path: string;
  /** Returns the number of connections and messages so far. */
  arrivals: () => number;
  close: () => Promise<void>;
}

export async function listen(folder: string): Promise<Listeners> {
  let arrivals = 0;
  const path = join(folder, 'host.sock');
  const servers = [createServer(() => arrivals++), createServer(() => arrivals++)] as const;
  await new Promise<void>((resolve) => servers[0].listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => servers[1].listen(path, resolve));
  const udp = createSocket('udp4').on('message', () => arrivals++);
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  return {
    tcp: (servers[0].address() as AddressInfo).port,
    udp: udp.address().port,
    path,
    arrivals: () => arrivals,
    close: async () => {
      udp.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
