import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { testFolder } from './test-folder.js';

const folder = testFolder();

/** Every mistake of a text, one a line, without the folder. */
async function reportOf(yaml: string): Promise<string[]> {
  const file = join(folder, 'node.yaml');
  writeFileSync(file, yaml);
  try {
    await loadConfig({ file });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { report, mistakes, facts } = error as ConfigError;
    expect(facts).toEqual({ file, count: mistakes.length });
    return report.split('\n').map((line) => line.replace(`${folder}/`, ''));
  }
}

/** Single mistakes stand in messages.golden.jsonl. */
describe('a broken node.yaml', () => {
  test('tells every mistake at once, in the order of the file', async () => {
    const report = await reportOf(`cluster: demo
http: { port: -1 }
timing:
  stalenessMs: 2s
  hartbeatMs: 1s
groups:
  orders:
    quota:
      publish:
        messagesPerSecond: -5
        bytesPerSecond: lots
    qouta: {}
  mail:
    strategy: fair
    maxRequest: { messages: 0 }
`);
    expect(report.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'node.yaml:2:15: http.port',
      'node.yaml:4:16: timing.stalenessMs',
      'node.yaml:5:3: timing.hartbeatMs',
      'node.yaml:10:28: groups.orders.quota.publish.messagesPerSecond',
      'node.yaml:11:25: groups.orders.quota.publish.bytesPerSecond',
      'node.yaml:12:5: groups.orders.qouta',
      'node.yaml:14:15: groups.mail.strategy',
      'node.yaml:15:29: groups.mail.maxRequest.messages',
    ]);
    expect(report[3]).toBe(
      'node.yaml:10:28: groups.orders.quota.publish.messagesPerSecond must be a rate ≥ 0 (e.g. 1000 or 10k), got -5. ' +
        'Remove the key for "unlimited" or use 0 to block.',
    );
  });

  test('with very many mistakes shows the first 200', async () => {
    const groups = Array.from({ length: 1000 }, (_, index) => `  group-${index}: { debtMs: -1 }`);
    const report = await reportOf(`cluster: demo\ngroups:\n${groups.join('\n')}\n`);
    expect(report).toHaveLength(201);
    expect(report[199]).toMatch(/^node.yaml:202:/);
    expect(report[200]).toBe('… and perhaps more');
  });
});

test('settings that nobody knows cost no more than the first 200 of them', () => {
  const publish = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`messagesPerFortnight${at}`, at]));
  const from = process.cpuUsage();
  const { config, mistakes } = examineGroup('orders', { quota: { publish } }, 'request');
  const { user } = process.cpuUsage(from);
  console.log(`${Math.round(user / 1000)} ms of CPU`);
  expect(config).toBe(null);
  expect(mistakes).toHaveLength(200);
  // Comparing each of them with all settings takes 2 s.
  expect(user / 1e6).toBeLessThan(1);
});
