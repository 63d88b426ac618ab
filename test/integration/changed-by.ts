import type { ChangedBy } from '../../src/core/registry/registry-record.js';

/** Who changes groups where a test does it past HTTP. */
export const BY_TEST: ChangedBy = { name: 'test', how: 'open', requestId: 'test', atMs: 0 };
