import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTokenSource, type TokenSource } from '../../../src/topic/tokens/token-source.js';
import { startTokenServer, type TokenServer } from '../../kafka/token-server.js';

/** Ten times what the first request of a process takes on two busy cores. */
const TIMEOUT_MS = 5000;
let server: TokenServer;
let source: TokenSource;
let lines: string[];

beforeEach(() => {
  lines = [];
});
afterEach(async () => {
  source.close();
  await server.stop();
});

async function start(lifeS: number): Promise<void> {
  server = await startTokenServer({ lifeS });
  const { url: tokenEndpoint, clientId, clientSecret } = server;
  source = createTokenSource({
    topic: 'reports',
    sasl: { tokenEndpoint, clientId, clientSecret },
    timeoutMs: TIMEOUT_MS,
    log: (_, message) => lines.push(message),
  });
}

it('asks once for all that need a token at once, and not again while it is fresh', async () => {
  await start(600);
  const tokens = await Promise.all([source.token(), source.token(), source.token()]);
  expect(new Set([...tokens, await source.token()]).size).toBe(1);
  expect(server.asked).toHaveLength(1);
});

it('replaces a token before it ends, although nobody asks', async () => {
  await start(1);
  await source.token();
  await until(() => server.asked.length >= 3);
});

it('asks an endpoint whose tokens live for a millisecond twice a second, not without end', async () => {
  await start(0.001);
  await source.token();
  await sleep(1200);
  expect(server.asked.length).toBeLessThanOrEqual(3);
});

it('gives the old one, while it is valid, where the endpoint is away, and says so', async () => {
  await start(3);
  const token = await source.token();
  server.broken = { status: 503, body: 'later' };
  await until(() => lines.length > 0);
  expect(lines).toEqual(['no new token for Kafka; trying again']);
  expect(await source.token()).toBe(token);
  await sleep(1800);
  await expect(source.token()).rejects.toMatchObject({ code: 'TOKEN_UNAVAILABLE' });
});

it.each([
  ['an error of the server', { status: 500, body: '' }, 'TOKEN_UNAVAILABLE', 'status 500'],
  ['too many requests', { status: 429, body: '' }, 'TOKEN_UNAVAILABLE', 'status 429'],
  ['a refusal', { status: 400, body: '{"error":"invalid_scope"}' }, 'TOKEN_REFUSED', 'status 400, invalid_scope'],
  ['no JSON', { status: 200, body: '<html>' }, 'TOKEN_REFUSED', 'status 200, without a token'],
  ['an empty token', { status: 200, body: '{"access_token":""}' }, 'TOKEN_REFUSED', 'without a token'],
  ['a redirection', { status: 302, body: '' }, 'TOKEN_UNAVAILABLE', 'redirect'],
])('%s', async (_, broken, code, reason) => {
  await start(600);
  server.broken = broken;
  const failure = await source.token().catch((error) => error);
  expect(failure).toMatchObject({ code });
  expect(failure.message).toContain(reason);
  expect(`${failure.message}${failure.remedy}`).not.toContain(server.clientSecret);
});

async function until(holds: () => boolean): Promise<void> {
  const givenUpAt = performance.now() + 15_000;
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error('never');
    await sleep(20);
  }
}
