/**
 * `npm run bench:idle [-- --seconds 20 --enforcer]`: CPU of a node without traffic on the embedded topic, user and system time of the process
 * as the kernel counts it. One node alone: what a process costs that was started and is not used. `--enforcer`: one that
 * has nothing to do either reports twice a second, as the plugin for Pulsar's brokers does; HTTP is not in the figure.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createWholeNode } from '../test/whole-node.js';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '20' }, enforcer: { type: 'boolean', default: false } },
});
/** The end of starting up: compilation and the first collections. */
const SETTLE_MS = 3000;
const directory = await mkdtemp(join(tmpdir(), 'quotamesh-idle-'));
try {
  const groups = { orders: { quota: { publish: { messagesPerSecond: 1000 } } } };
  const topic = { kind: 'embedded', path: directory };
  const node = await createWholeNode({ config: { cluster: 'idle', node: 'a', topic, groups }, env: {} });
  const lanes = [{ lane: 0, admitted: [5, 500] as const, isHeldBack: false }];
  const report = { enforcer: 'broker', life: 1, ttlMs: 3000, lanes };
  const patience = { seen: null, waitMs: 0, signal: new AbortController().signal };
  const reports = values.enforcer ? setInterval(() => void node.enforcers.report(report, patience), 500) : undefined;
  await sleep(SETTLE_MS);
  const [cpu, fromMs, rounds] = [process.cpuUsage(), performance.now(), node.rounds.count];
  await sleep(Number(values.seconds) * 1000);
  const { user, system } = process.cpuUsage(cpu);
  const forMs = performance.now() - fromMs;
  const part = (us: number) => (us / 10 / forMs).toFixed(2);
  console.log(
    `${values.enforcer ? 'with an idle enforcer: ' : ''}idle node on the embedded topic: ${part(user + system)} % of a core (${part(user)} user + ${part(system)} system), ` +
      `${((1000 * (node.rounds.count - rounds)) / forMs).toFixed(0)} rounds per second; load average ${loadavg()[0]?.toFixed(1)}`,
  );
  clearInterval(reports);
  await node.close();
} finally {
  await rm(directory, { recursive: true, force: true });
}
