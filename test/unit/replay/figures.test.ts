import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { SystemEnvironment } from '../../../sim/cluster/system-environment.js';
import { playTrace } from '../../../sim/replay/play-trace.js';
import { readTrace } from '../../../sim/replay/read-trace.js';
import { type ReplayedSystem, replayedSystemNamed, replayedSystems } from '../../../sim/replay/replayed-system.js';
import type { TraceArrival } from '../../../sim/replay/trace.js';
import type { TraceRun } from '../../../sim/replay/trace-run.js';
import { PACKAGE_ROOT } from '../../../src/base/package/package-root.js';
import { someOf } from '../../property/seed.js';
import { GATED, SETTINGS } from '../../simulation/settings.js';
import { type Decision, naiveFigures } from './naive-figures.js';
import { arrival, OPTIONS } from './rows.js';

const UNLIMITED = Infinity;
const SYSTEM_NAMES = ['max-min', 'equal', 'static', 'full-quota', 'central-bucket', 'rate-limiter-flexible'];
const SYSTEMS = SYSTEM_NAMES.map((name) => replayedSystemNamed(name, replayedSystems(4))!);

/** Clumps, pauses and sizes that differ by four orders of magnitude. */
function invented(seed: number, rows: number): TraceArrival[] {
  const random = randomFrom(seed);
  let atMs = 0;
  return Array.from({ length: rows }, (_, row) => {
    const kind = random();
    if (row > 0) atMs += kind < 0.7 ? random() * 4 : kind < 0.99 ? random() * 20 : random() * 900;
    return arrival(atMs, Math.floor(random() * 3), random() < 0.9 ? 1 : 7, Math.floor(10 ** (1 + 4 * random())));
  });
}

async function bundled(speed: number, rows: number): Promise<TraceArrival[]> {
  const file = fileURLToPath(new URL('examples/traces/azure-llm-code-2023.csv', PACKAGE_ROOT));
  const options = { ...OPTIONS, time: 'TIMESTAMP', bytes: 'ContextTokens+GeneratedTokens', speed };
  const read: TraceArrival[] = [];
  for await (const row of readTrace(createReadStream(file), file, options)) {
    read.push(row);
    if (read.length === rows) break;
  }
  return read;
}

test.for(
  someOf([
    { quota: [120, UNLIMITED], speed: 1 },
    { quota: [UNLIMITED, 300_000], speed: 1 },
    { quota: [90, 400_000], speed: 1 },
    { quota: [400, 250_000], speed: 1 },
    { quota: [0.5, UNLIMITED], speed: 1 },
    { quota: [UNLIMITED, UNLIMITED], speed: 1 },
    { quota: [6, 20_000], speed: 20 },
  ] as const),
)('figures of invented rows against $quota at speed $speed', async ({ quota, speed }) => {
  await compare(invented(17, 1500), quota, speed);
});

test('figures of the bundled trace, at its mean', async () => {
  await compare(await bundled(170, 1500), [2.6, 6000], 170);
});

async function compare(rows: readonly TraceArrival[], quota: readonly [number, number], speed: number): Promise<void> {
  const logs = SYSTEMS.map((): Decision[] => []);
  const runs = await playTrace(Readable.from(rows), {
    name: 'figures',
    systems: SYSTEMS.map((system, at) => observed(system, logs[at])),
    nodes: 3,
    seed: 5,
    quota,
    speed,
    settings: { ...SETTINGS, groups: [GATED] },
    maxRequest: [UNLIMITED, UNLIMITED],
  });
  runs.forEach((run, at) => {
    const log = logs[at];
    expect(log).toHaveLength(rows.length);
    const naive = naiveFigures(log, { messages: quota[0] * speed, bytes: quota[1] * speed });
    const { verdict, offered, admitted, offeredBytes, admittedBytes } = run;
    const { records: _, bytes: __, ...figures } = verdict;
    const amounts = { offered, admitted, offeredBytes, admittedBytes };
    const told: Record<string, number> = { ...(figures as typeof naive), ...amounts };
    expect(Object.keys(told).sort()).toEqual(Object.keys(naive).sort());
    for (const [name, value] of Object.entries(naive)) {
      expect(told[name], `${run.system}: ${name}`).toBeCloseTo(value, Math.abs(value) > 1000 ? 3 : 8);
    }
    compareSeries(run, log, speed);
  });
}

/** The charts: rates per second of the file, summed up from all rows. */
function compareSeries(run: TraceRun, log: readonly Decision[], speed: number): void {
  const sampleOf = (atMs: number) => Math.floor((atMs * speed) / run.sampleMs);
  for (const { dimension, perNode } of run.series) {
    run.nodes.forEach((name, node) => {
      const own = log.filter((decision) => decision.node === node);
      const columns = perNode[name];
      const rates = (decisions: readonly Decision[], timeOf: (decision: Decision) => number) => {
        const sums = new Array<number>(columns.demand.length).fill(0);
        for (const decision of decisions) sums[sampleOf(timeOf(decision))] += decision[dimension];
        return sums.map((sum) => sum / (run.sampleMs / 1000));
      };
      const answered = ({ answeredMs }: Decision) => answeredMs;
      const [admitted, refused] = [true, false].map((is) => own.filter(({ isAdmitted }) => isAdmitted === is));
      const demand = rates(own, ({ askedMs }) => askedMs);
      expectClose(columns.demand, demand);
      expectClose(columns.admitted, rates(admitted, answered));
      expectClose(columns.refused, rates(refused, answered));
    });
  }
}

function expectClose(told: readonly number[], naive: readonly number[]): void {
  const apart = told.map((rate, at) => Math.abs(rate - naive[at]) / Math.max(1, naive[at]));
  expect(Math.max(...apart)).toBeLessThan(1e-9);
}

/** The same system, whose decisions are written down where the node or the store takes them. */
function observed(system: ReplayedSystem, log: Decision[]): ReplayedSystem {
  return {
    name: system.name,
    says: system.says,
    create: (environment: SystemEnvironment) => {
      const cluster = system.create(environment);
      // The first row comes at 0.
      let beginMs = Number.NaN;
      const now = () => {
        if (Number.isNaN(beginMs)) beginMs = environment.queue.nowMs;
        return environment.queue.nowMs - beginMs;
      };
      const nodeOf = (name: string) => Number(name.slice(1));
      if ('ask' in cluster) {
        const ask = cluster.ask.bind(cluster);
        cluster.ask = (name, messages, bytes, answer) => {
          const askedMs = now();
          ask(name, messages, bytes, (isAdmitted) => {
            log.push({ node: nodeOf(name), askedMs, answeredMs: now(), messages, bytes, isAdmitted });
            answer(isAdmitted);
          });
        };
      } else {
        const tryAcquire = cluster.tryAcquire.bind(cluster);
        cluster.tryAcquire = (name, messages, bytes, retry) => {
          const isAdmitted = tryAcquire(name, messages, bytes, retry);
          const atMs = now();
          log.push({ node: nodeOf(name), askedMs: atMs, answeredMs: atMs, messages, bytes, isAdmitted });
          return isAdmitted;
        };
      }
      return cluster;
    },
  } as ReplayedSystem;
}

/** mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
