// All benchmarks. A new benchmark needs an entry in this list and a script in the repository's
// package.json.

import { coldstart } from './coldstart/benchmark.js';
import { density } from './density/benchmark.js';
import { gateBenchmark } from './gate/benchmark.js';
import { kernel } from './kernel/benchmark.js';
import { lifecycle } from './lifecycle/benchmark.js';
import { matrix } from './matrix/benchmark.js';
import { micro } from './micro/benchmark.js';
import { neighbour } from './neighbour/benchmark.js';
import { network } from './network/benchmark.js';
import { peersBenchmark } from './peers/benchmark.js';
import { pool } from './pool/benchmark.js';
import { python } from './python/benchmark.js';
import { serve } from './serve/benchmark.js';
import type { AnyBenchmark } from './suite/benchmark.js';
import { userland } from './userland/benchmark.js';

export const benchmarks: readonly AnyBenchmark[] = [
  coldstart,
  lifecycle,
  density,
  pool,
  kernel,
  userland,
  micro,
  matrix,
  neighbour,
  network,
  serve,
  python,
  gateBenchmark,
  peersBenchmark,
];
