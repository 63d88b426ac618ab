import { describe, test } from 'vitest';
import { someOf } from '../property/seed.js';
import { BEARER, expectSurvived, HOST, PIECE_REQUESTS } from './hostile-clients.js';

/** A probe is answered within milliseconds; an orchestrator waits for some seconds. */
const PROBE_MAX_MS = 5000;

/** The other ways are in test/long. */
describe('clients that send much and read nothing do not end a node with a small heap', () => {
  const ways = [
    ['pipeline the largest page that anybody may read', 16, '/openapi.json', HOST + BEARER, PIECE_REQUESTS],
    ['have no token, and are many', 600, '/', HOST, PIECE_REQUESTS],
  ] as const;
  test.each(someOf(ways))('%s', { timeout: 120_000 }, async (_, connections, path, fields, requests) => {
    await expectSurvived({ connections, path, fields, requests }, PROBE_MAX_MS);
  });
});
