// A package registry on the loopback, for tests that install tarballs. The registry has the packed
// packages, and the manifests of platform packages that this machine cannot build. Installers ask
// for the manifests of all platforms, and download the package of their own platform only.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';
import { allPlatformManifests } from '../pack/manifests.mjs';

const integrity = (path) => `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;

/** Starts a registry of `packages`. Returns its URL, the downloads so far, and `close()`. */
export async function startRegistry(packages) {
  const made = packages.map(({ path, manifest }) => ({ manifest, path, integrity: integrity(path) }));
  const others = allPlatformManifests().filter(({ name }) => !made.some(({ manifest }) => manifest.name === name));
  const all = new Map([...made, ...others.map((manifest) => ({ manifest }))].map((each) => [each.manifest.name, each]));
  const downloads = [];

  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url.slice(1));
    const tarball = made.find(({ path }) => name === `-/${basename(path)}`);
    if (tarball !== undefined) {
      downloads.push(tarball.manifest.name);
      createReadStream(tarball.path).pipe(response);
      return;
    }
    const found = all.get(name);
    if (found === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(packumentOf(found)));
  });

  const packumentOf = ({ manifest, path, integrity }) => {
    const { name, version } = manifest;
    const dist = { tarball: `${url}/-/${path === undefined ? 'missing.tgz' : basename(path)}`, ...(integrity && { integrity }) };
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, downloads, close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}
