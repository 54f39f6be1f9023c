// `coldframe/mcp`: servers of the Model Context Protocol whose tools use sandboxes. Next:
// `handler.ts` for HTTP, `stdio.ts` for stdin and stdout.

export { createMcpHandler, type McpHandler } from './handler.js';
export type { McpHandlerOptions, McpOptions, RuntimeSource } from './options.js';
export { serveMcp } from './stdio.js';
