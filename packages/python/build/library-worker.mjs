// Compiles the modules of the standard library to bytecode, in the guest.
import { workerData } from 'node:worker_threads';
import { bootGuest, makeGuest, startPython } from './dev-host.mjs';
import { LIBRARY } from './paths.mjs';

const PROGRAM = `
import compileall, py_compile, sys
done = compileall.compile_dir("/${LIBRARY}", quiet=1, force=True, maxlevels=20,
                              invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
sys.exit(0 if done else 1)
`;

const guest = bootGuest(await makeGuest({ wasm: workerData.wasm, root: workerData.root }));
const { exitCode } = await guest.run(startPython({ argv: ['python3', '-c', PROGRAM] }));
process.exit(exitCode);
