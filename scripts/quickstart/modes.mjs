// The four ways of provisioning, with the calls of a user. `open` makes the objects that runtimes
// share, such as a sidecar. `create` makes one runtime that can run programs.

import { NodeRuntime, Sidecar } from '../../packages/sdk/dist/index.js';

const nothing = { dispose: async () => {} };

async function createResident({ sidecar }) {
  const runtime = await NodeRuntime.create({ sidecar });
  const runner = await runtime.createResidentRunner();
  return { exec: (code, options) => runner.exec(code, options), dispose: () => runtime.dispose() };
}

const createIn = ({ sidecar }) => NodeRuntime.create({ sidecar });

async function withSidecar(opening) {
  const sidecar = await opening;
  return { sidecar, dispose: () => sidecar.dispose() };
}

export const modes = [
  {
    name: 'owned',
    what: 'a sidecar process of its own',
    open: async () => nothing,
    create: () => NodeRuntime.create(),
  },
  {
    name: 'shared',
    what: 'one sidecar process for many runtimes',
    open: () => withSidecar(Sidecar.spawn()),
    create: createIn,
  },
  {
    name: 'resident',
    what: 'one guest process that keeps its state, in a shared sidecar',
    open: () => withSidecar(Sidecar.spawn()),
    create: createResident,
  },
  {
    name: 'embedded',
    what: 'in the process of the app: the WebAssembly sandbox only',
    open: () => withSidecar(Sidecar.embedded()),
    create: createIn,
  },
];
