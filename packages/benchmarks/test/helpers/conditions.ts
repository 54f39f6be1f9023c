// Conditions for measurements in tests: no floors, and no progress lines.

import type { Conditions } from '../../src/suite/measure.js';

export const silent: Conditions = { floors: [], progress: { write: () => {}, row: () => {} } };
