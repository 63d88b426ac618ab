import { join } from 'node:path';
import { expect, test } from 'vitest';
import { usedOf } from '../../../sim/strict/used-table.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { strictUses, strictUseText } from '../../../src/config/resolved/strict-used.js';
import { CliScene } from '../cli/cli-process.js';
import { runInProcess } from '../cli/run-in-process.js';

function configOf(burst: number, others: object = {}) {
  const paid = { promise: 'strict', quota: { publish: { messagesPerSecond: 600 } }, burst };
  const free = { quota: { publish: { messagesPerSecond: 600 } } };
  return resolveConfig({ cluster: 'c', node: 'a', groups: { paid, free }, ...others }, { source: '(test)', env: {} });
}

const EMBEDDED = { topic: { kind: 'embedded', path: './state' } };
const KAFKA = { topic: { kind: 'kafka', brokers: ['b:9092'] } };

test.each([
  { says: 'a log near by', burst: 60, others: EMBEDDED, asked: {}, part: 98, remedy: null },
  { says: 'a Kafka', burst: 60, others: KAFKA, asked: {}, part: 95, remedy: null },
  { says: 'a far log', burst: 60, others: KAFKA, asked: { delivery: 50 }, part: 60, remedy: 120 },
  { says: 'between two columns', burst: 60, others: KAFKA, asked: { delivery: 21 }, part: 60, remedy: 120 },
  { says: 'between two rows', burst: 170, others: KAFKA, asked: { delivery: 100 }, part: 58, remedy: 180 },
  {
    says: 'between 3 and 5 nodes',
    burst: 120,
    others: KAFKA,
    asked: { nodes: 4, delivery: 100 },
    part: 58,
    remedy: 180,
  },
  { says: 'a bucket below the table', burst: 30, others: EMBEDDED, asked: {}, part: 49, remedy: 60 },
  {
    says: 'the nodes of start.nodeCount',
    burst: 60,
    others: { ...KAFKA, start: { nodeCount: 10 } },
    asked: { delivery: 50 },
    part: 73,
    remedy: 120,
  },
])('$says: a burst of $burst uses $part %', ({ burst, others, asked, part, remedy }) => {
  const [use, ...rest] = strictUses(configOf(burst, others), asked);
  expect(rest).toEqual([]);
  expect([Math.round(100 * (use?.used ?? 0)), use?.deeperBurst]).toEqual([part, remedy]);
});

test('is said with a remedy', () => {
  const [use] = strictUses(configOf(60, KAFKA), { delivery: 50 });
  expect(use && strictUseText(use)).toBe(
    'strict group paid, publish: 3 nodes, 50 ms to the log, a burst of 0.1 s use about 60 % of the quota; set burst: 120 to use more',
  );
});

test('`check` and `doctor` name a deeper burst', async ({ onTestFinished }) => {
  const text = `cluster: c
topic: { kind: embedded, path: ./state }
http: { port: 0 }
start: { nodeCount: 10 }
groups: { paid: { promise: strict, quota: { publish: { messagesPerSecond: 600 } }, burst: 30 } }
`;
  const file = join(new CliScene(onTestFinished).folderWith({ 'node.yaml': text }), 'node.yaml');
  const burst = 'a burst of 0.05 s use about 49 % of the quota; set burst: 60 to use more';
  const says = `strict group paid, publish: 10 nodes, 5 ms to the log, ${burst}`;
  expect((await runInProcess(['check', file])).stdout).toBe(`${file}: valid; cluster c, 1 group\n${says}\n`);
  expect((await runInProcess(['doctor', file])).stdout).toContain(says);
  const asked = await runInProcess(['check', file, '--json', '--nodes', '3', '--delivery', '1']);
  expect(JSON.parse(asked.stdout)).toMatchObject({ valid: true, strict: [{ group: 'paid', nodes: 3, deliveryMs: 1 }] });
});

test('is what the simulator plays', () => {
  const [use] = strictUses(configOf(60, KAFKA), { delivery: 50 });
  const played = usedOf({ nodes: 3, depthSeconds: 0.1, delayMs: 50 }, 160);
  expect(Math.abs(played - (use?.used ?? 0))).toBeLessThan(0.03);
});
