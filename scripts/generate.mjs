// `pnpm generate`: writes the files that repeat declarations in Rust: the protocol in TypeScript,
// and the guest ABI in JavaScript, C and Markdown. `--check` writes nothing and fails when a file
// is stale. `packages/sidecar/crates/codegen` does the work.

import { runGenerator } from './build/cargo.mjs';
import { runMain } from './build.mjs';

await runMain(() => runGenerator(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`)));
