import type { Attaching } from '../../src/groups/changes/attachment-owner.js';

/** Who changes groups where a test does it past HTTP. */
export const BY_TEST: Attaching = { name: 'test', how: 'open', requestId: 'test', atMs: 0, tenants: null };
