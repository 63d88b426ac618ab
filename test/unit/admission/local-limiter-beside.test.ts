import { readFileSync } from 'node:fs';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HttpScene, readyScene } from '../http/http-scene.js';

/** The program of docs/guide/batches-and-refunds.md, "Beside a limiter of the process", as it stands there. */
const document = readFileSync(new URL('../../../docs/guide/batches-and-refunds.md', import.meta.url), 'utf8');
const [, written = ''] = /## Beside a limiter of the process[\s\S]*?```js\n([\s\S]*?)```/.exec(document) ?? [];
const IMPORT = "import { RateLimiterMemory } from 'rate-limiter-flexible';\n";

type Call = (prompt: string) => Promise<string>;

let scene: HttpScene;
let sent: string[];
let call: Call;

beforeEach(async () => {
  scene = await readyScene({ groups: { llm: { quota: { publish: { messagesPerSecond: 10_000 } } } } });
  sent = [];
  expect(written.startsWith(IMPORT)).toBe(true);
  const program = new Function('RateLimiterMemory', 'node', 'send', `${written.slice(IMPORT.length)}\nreturn call;`);
  const send = async (prompt: string) => `answer ${sent.push(prompt)}`;
  call = program(RateLimiterMemory, scene.node, send) as Call;
});
afterEach(() => scene.close());

test('the local limiter is asked first: what it refuses costs nothing of the quota', async () => {
  const asked = await Promise.allSettled(Array.from({ length: 25 }, (_, at) => call(`${at}`)));
  expect(asked.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 20 }, () => 'fulfilled'),
    ...Array.from({ length: 5 }, () => 'rejected'),
  ]);
  expect([sent.length, scene.node.limiter.admitted.at(0)]).toEqual([20, 20]);
});

test('what the quota refuses is not sent, and says when to come back', async () => {
  await scene.node.close();
  await expect(call('late')).rejects.toThrow(/^try again in \d+ ms$/);
  expect(sent).toEqual([]);
});
