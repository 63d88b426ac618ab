import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { Child } from '../../src/tools/processes/child.js';
import { isDrawn } from '../property/seed.js';
import { examplePath, folder, listening, served, type TraceRow, traceRows } from './example-programs.js';

describe('examples of services', () => {
  test.runIf(isDrawn(1))('embed-keys.mjs: a key that nobody has named has a quota; who sends none is 401', async () => {
    const { url } = await served('embed-keys.mjs', await folder());
    const answer = await fetch(url, { headers: { 'x-api-key': 'alice' } });
    expect([answer.status, await answer.text()]).toEqual([200, 'hello\n']);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('600');
    expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBeLessThan(600);
    const statuses = ['any text', ''].map(
      async (name) => (await fetch(url, { headers: { 'x-api-key': name } })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 401]);
  });

  test.runIf(isDrawn(3))(
    'llm-gateway.mjs: what an answer cost is charged, not what it might have; every key has its own tokens',
    async () => {
      const rows = await traceRows(150);
      const upstream = await languageModel();
      const { url } = await served('llm-gateway.mjs', await folder(), { UPSTREAM: upstream });
      const ask = async (key: string, row: TraceRow) => {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          body: JSON.stringify({ messages: row, max_tokens: row.most }),
        });
        const body = (await answer.json()) as { usage?: { total_tokens: number } };
        return {
          status: answer.status,
          tokens: body.usage?.total_tokens ?? 0,
          wait: answer.headers.get('retry-after'),
        };
      };
      // A bucket holds 1,200,000: the second is granted because the first was given back, and what failed as well.
      const large = { prompt: '', context: 5, generated: 5, most: 900_000 };
      expect(await ask('careful', large)).toMatchObject({ status: 200, tokens: 10 });
      expect((await ask('careful', { ...large, context: -1 })).status).toBe(502);
      expect(await ask('careful', large)).toMatchObject({ status: 200, tokens: 10 });

      // Leaves a tenth of the bucket, which is less than the rows take.
      const tokensFirst = 1_080_000;
      const first = { prompt: '', context: tokensFirst, generated: 0, most: tokensFirst };
      const startedMs = performance.now();
      expect(await ask('greedy', first)).toMatchObject({ status: 200, tokens: tokensFirst });
      const greedy = (await Promise.all(rows.map((row) => ask('greedy', row)))).filter(({ status }) => status !== 429);
      const modest = await Promise.all(rows.slice(0, 5).map((row) => ask('modest', row)));
      const seconds = (performance.now() - startedMs) / 1000;
      const used = greedy.reduce((sum, { tokens }) => sum + tokens, tokensFirst);
      console.log(
        `llm-gateway.mjs: ${greedy.length} of ${rows.length} requests, ${used} tokens in ${seconds.toFixed(1)} s`,
      );
      expect(modest.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(greedy.length).toBeGreaterThan(0);
      expect(greedy.length).toBeLessThan(rows.length);
      // The bucket was full at the start, and 20,000 tokens a second come in.
      expect(used).toBeLessThanOrEqual(1_200_000 + 20_000 * seconds);
      // More than can be there until it is asked, also on a machine that takes its time.
      const most = Math.round(1_200_000 - used + 20_000 * (seconds + 5));
      const refused = await ask('greedy', { ...large, most });
      expect(refused.status).toBe(429);
      expect(Number(refused.wait)).toBeGreaterThanOrEqual(1);
    },
  );

  test.runIf(isDrawn(5))(
    'outbound.mjs: two processes send to an API what it allows, and each request waits its turn',
    async () => {
      const calledMs: number[] = [];
      const url = await listening(
        createServer((_request, response) => {
          calledMs.push(performance.now());
          response.end('ok');
        }),
      );
      const state = await folder();
      const processes = ['a', 'b'].map((id) => new Child([examplePath('outbound.mjs'), id, url, state, '5']));
      await Promise.all(processes.map(({ ended }) => ended));
      console.log(processes.map(({ stdout }) => stdout.trim()).join('; '));
      for (const { stdout, stderr } of processes) {
        expect(stderr).toBe('');
        expect(Number(/: (\d+) calls/.exec(stdout)?.[1])).toBeGreaterThan(0);
      }
      expect(calledMs.length).toBeGreaterThanOrEqual(30);
      // 10/s, and three depths of ten: what two processes that wake at one instant may take.
      for (let first = 0; first < calledMs.length; first++) {
        for (let last = first; last < calledMs.length; last++) {
          const seconds = (calledMs[last] - calledMs[first]) / 1000;
          expect(last - first).toBeLessThanOrEqual(10 * seconds + 30);
        }
      }
    },
  );
});

/** Answers as long as the trace says; a context below 0 ends the connection. */
function languageModel(): Promise<string> {
  return listening(
    createServer(async (request, response) => {
      const { messages } = (await json(request)) as { messages: TraceRow };
      if (messages.context < 0) response.destroy();
      else response.end(JSON.stringify({ usage: { total_tokens: messages.context + messages.generated } }));
    }),
  );
}
