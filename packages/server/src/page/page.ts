// The web page at `/ui/`: static files that the build makes (packages/server/page). The files
// contain no data, so they need no key. The page asks for the key, and sends it with every request.

import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Control, Routes } from '../control/app.js';

const FOLDER = new URL('../ui/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The page runs only its own files. Styles in attributes are allowed, because the terminal sets
 * them. A preview is a frame of another origin: a port of a sandbox. Without a domain, browsers
 * find the names below `localhost` on their own machine.
 */
const policyOf = (domain: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    `frame-src *.${domain ?? 'localhost'}:*`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');

/** The description of the routes for clients leaves out the page. */
const HIDDEN = { schema: { hide: true } };

/** Adds the routes of the page. */
export function addPageRoutes(app: Pick<Routes, 'get'>, { stated: { domain } }: Pick<Control, 'stated'>): void {
  const headers = {
    'content-security-policy': policyOf(domain),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  };
  const files = new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(new URL(name, FOLDER))]));
  for (const [name, content] of files) {
    const path = name === 'index.html' ? '/ui' : `/ui/${name}`;
    app.get(path, HIDDEN, (request, reply) => {
      // The document names its files relative to `/ui/`.
      if (/^\/ui(\?|$)/.test(request.url)) return reply.redirect('/ui/', 308);
      return (
        reply
          .headers(headers)
          .header('content-type', TYPES[extname(name)] ?? 'application/octet-stream')
          // The names of the files contain no hash, so a browser asks for each file again.
          .header('cache-control', 'no-cache')
          .send(content)
      );
    });
  }
  app.get('/ui/config.json', HIDDEN, (_, reply) => reply.headers(headers).send({ domain: domain ?? null }));
}
