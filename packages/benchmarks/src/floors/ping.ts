// Floor of a message: one round trip to a running sidecar over its socket, back to back. The resident runner's warm evaluation is
// judged against it. It holds the sidecar's spinning before it sleeps; a ping after some idle time costs more (see the README).

import { Sidecar } from 'coldframe';
import { now } from '../stats/timer.js';
import type { FloorDefinition } from './floor.js';

export const pingFloor: FloorDefinition = {
  name: 'socket_ping',
  what: 'sidecar.ping(), back to back',
  repeat: 25,
  open: async () => {
    const sidecar = await Sidecar.spawn();
    return {
      measure: async () => {
        const startedAt = now();
        await sidecar.ping();
        return now() - startedAt;
      },
      close: () => sidecar.dispose(),
    };
  },
};
