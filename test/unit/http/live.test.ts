import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { replayRecording } from '../../../sim/replay/replay-recording.js';
import { listen } from '../../../src/doors/http/server/http-server.js';
import { MEMORY_TOPIC } from '../../../src/topic/memory/kind.js';
import { readRecording } from '../../../src/topic/recording/read-recording.js';
import { AUTH, bearer, TOKENS } from '../access/access-scene.js';
import { type HttpScene, readyScene } from './http-scene.js';

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
const EVENTS = { accept: 'text/event-stream' };

describe('the live page', () => {
  let scene: HttpScene;
  let url: string;
  beforeAll(async () => {
    scene = await readyScene({ http: { host: '127.0.0.1', port: 0 } });
    url = await listen(scene.app, scene.node);
    await scene.acquire({ group: 'orders', messages: 3 });
  });
  afterAll(() => scene.close());

  it('GET / is the page for browsers, and stays JSON for programs', async () => {
    const page = await scene.app.inject({ url: '/', headers: { accept: BROWSER } });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toBe("frame-ancestors 'none'");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page.body)?.[1] ?? '';
    expect(policy.replaceAll('&#39;', "'").replace(/sha256-[^']+/g, 'sha256')).toBe(
      "default-src 'none'; script-src 'sha256'; style-src 'sha256'; img-src data:; base-uri 'none'; " +
        "form-action 'none'; connect-src 'self'",
    );
    expect(page.body.length).toBeLessThan(200_000);
    for (const accept of ['*/*', 'application/json', undefined]) {
      const headers = accept === undefined ? {} : { accept };
      expect((await scene.app.inject({ url: '/', headers })).json()).toMatchObject({ name: 'quotamesh' });
    }
  });

  it.each([
    ['count=121', 422],
    ['count=-1', 422],
    ['from=abc', 422],
    ['order=cold', 422],
    ['group=nobody', 404],
  ])('GET /v1/live?%s is %i', async (query, status) => {
    expect((await scene.get(`/v1/live?${query}`)).status).toBe(status);
  });

  it('pushes at once and then every second, until the reader goes', async () => {
    const ending = new AbortController();
    const response = await fetch(`${url}/v1/live?group=orders`, { headers: EVENTS, signal: ending.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const got = await eventsUntil(response, (text) => text.split('event: group').length > 2);
    expect(got).toMatch(/^event: node\ndata: \{.*\}\n\nevent: group\ndata: \{"group":"orders".*\}\n\n/);
    ending.abort();
  });

  it('a recording of the topic replays', async () => {
    await scene.acquire({ group: 'orders', messages: 3 });
    const response = await fetch(`${url}/v1/live/recording?seconds=2`);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="http-[\w.-]+\.qmrec"$/);
    const busy = await fetch(`${url}/v1/live/recording?seconds=1`);
    expect([busy.status, await busy.json()]).toMatchObject([503, { code: 'LIVE_FULL' }]);
    await scene.acquire({ group: 'orders', messages: 300 });
    const recording = await readRecording(Readable.fromWeb(response.body as never), 'live.qmrec');
    const { runs } = await replayRecording(recording, { group: 'orders', direction: 'publish' });
    expect(runs[0]?.nodes).toEqual(['a']);
  });

  it('a recording that ends before its topic is made leaves no timer behind', async () => {
    const { open } = MEMORY_TOPIC;
    // Timers of one length end in order: this one after the recording's.
    vi.spyOn(MEMORY_TOPIC, 'open').mockImplementation(async (...how) => sleep(0).then(() => open(...how)));
    const set = vi.spyOn(globalThis, 'setInterval');
    const clear = vi.spyOn(globalThis, 'clearInterval');
    onTestFinished(() => void vi.restoreAllMocks());
    const recording = await fetch(`${url}/v1/live/recording?seconds=0`);
    expect((await recording.arrayBuffer()).byteLength).toBe(0);
    const cleared = clear.mock.calls.map(([timer]) => timer);
    expect(set.mock.results.filter(({ value }) => !cleared.includes(value)).length).toBe(0);
  });

  it('remembers the last seconds', async () => {
    await expect
      .poll(async () => (await scene.get('/v1/live/history')).body.seconds, { timeout: 5000 })
      .toBeGreaterThan(1);
    const { body } = await scene.get('/v1/live/history?group=orders&direction=publish');
    expect((body.node as { members: number[] }).members.at(-1)).toBe(1);
  });
});

describe('with auth', () => {
  let scene: HttpScene;
  let url: string;
  beforeAll(async () => {
    scene = await readyScene({ auth: AUTH, http: { host: '127.0.0.1', port: 0 } });
    url = await listen(scene.app, scene.node);
  });
  afterAll(() => scene.close());

  it('a browser gets the page without a token, as it holds nothing of the cluster', async () => {
    const page = await scene.app.inject({ url: '/', headers: { accept: BROWSER } });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.body).not.toContain(scene.node.config.cluster);
    expect((await scene.app.inject({ url: '/', headers: { accept: '*/*' } })).statusCode).toBe(401);
    expect((await scene.app.inject({ url: '/v1/live', headers: { accept: BROWSER } })).statusCode).toBe(401);
  });

  it('an open stream ends when tokens change, with the reason', async () => {
    const headers = { ...EVENTS, ...bearer(TOKENS.viewer) };
    const response = await fetch(`${url}/v1/live`, { headers });
    scene.access.take({ ...scene.node.config.auth!, tokens: [] });
    const got = await eventsUntil(response, (text) => text.includes('event: ended'));
    expect(got).toContain('"reason":"access-changed"');
    expect((await fetch(`${url}/v1/live`, { headers })).status).toBe(401);
    scene.access.take(scene.node.config.auth);
  });

  it('the end of the node is told', async () => {
    const response = await fetch(`${url}/v1/live`, { headers: { ...EVENTS, ...bearer(TOKENS.viewer) } });
    const reading = eventsUntil(response, (text) => text.includes('event: ended'));
    await sleep(50);
    void scene.app.close();
    expect(await reading).toContain('"reason":"stopping"');
  });
});

async function eventsUntil({ body }: Response, isDone: (text: string) => boolean): Promise<string> {
  let text = '';
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (isDone(text)) break;
  }
  return text;
}
