import type { Attaching } from '../../src/node/groups/changes/attaching.js';

/** The author of changes that a test makes past HTTP. */
export const BY_TEST: Attaching = { name: 'test', how: 'open', requestId: 'test', atMs: 0, tenants: null };
