// A server of sandboxes for the clients of E2B. Next: `server.ts`.

export type { ServerOptions } from './options.js';
export { createServer, type Server } from './server.js';
