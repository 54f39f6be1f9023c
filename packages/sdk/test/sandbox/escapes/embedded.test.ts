// Runs the escape suite in embedded mode: hostile programs and the neighbour run in the process of
// this test file.

import { registerCases } from './harness/register.js';

registerCases('embedded');
