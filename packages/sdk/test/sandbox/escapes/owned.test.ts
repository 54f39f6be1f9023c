// Runs the escape suite in owned mode: each runtime has a sidecar process of its own, and the
// neighbour has another one.

import { registerCases } from './harness/register.js';

registerCases('owned');
