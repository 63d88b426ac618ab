import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createNode } from '../../../src/index.js';
import { GuardedTelemetry } from '../../../src/node/loop/guarded-telemetry.js';

const config = {
  cluster: 'x',
  topic: { kind: 'none', nodeCount: 1 },
  groups: { g: { quota: { publish: { messagesPerSecond: 100 } } } },
};

const BROKEN = [
  ['throws', () => throwing()],
  ['throws what is no error', () => throwing(null)],
  ['returns a promise that is rejected', async () => throwing()],
] as const;

it.each(BROKEN)('a node decides, tells and ends although its telemetry %s', async (_, broken) => {
  const warnings = warningsOf(process);
  const telemetry = { log: broken, decided: broken };
  const node = await createNode({ config, nodeId: 'z', telemetry, readyTimeoutMs: 2000 });
  expect(node.tryAcquire('g', { messages: 1 })).toBeDefined();
  await sleep(50);
  expect(node.status().telemetryFailures).toBeGreaterThan(1);
  await node.close();
  await sleep(0);
  expect(warnings).toEqual([
    expect.objectContaining({ name: 'QuotameshWarning', code: 'TELEMETRY_FAILED', message: expect.any(String) }),
  ]);
});

it('the warning says what failed, how, and what to do', async () => {
  const warned = once(process, 'warning');
  const telemetry = new GuardedTelemetry({ log: () => throwing() });
  telemetry.log('info', 'first');
  telemetry.log('info', 'second');
  expect(await warned).toMatchObject([
    { message: expect.stringMatching(/^telemetry\.log failed: disk full\. Mend what the telemetry/) },
  ]);
  expect(telemetry.failures).toBe(2);
});

it('a telemetry that works is called as its own method, with what the node said', () => {
  const lines: unknown[] = [];
  const own = {
    lines,
    log(...line: unknown[]) {
      this.lines.push(line);
    },
  };
  const telemetry = new GuardedTelemetry(own);
  telemetry.log('warn', 'farewell', { ms: 3 });
  expect(lines).toEqual([['warn', 'farewell', { ms: 3 }]]);
  expect(telemetry.decided).toBeUndefined();
  expect(telemetry.failures).toBe(0);
});

function throwing(what: unknown = new Error('disk full')): void {
  throw what;
}

function warningsOf(target: NodeJS.Process): Error[] {
  const warnings: Error[] = [];
  const take = (warning: Error) => warnings.push(warning);
  target.on('warning', take);
  onTestFinished(() => void target.off('warning', take));
  return warnings;
}
