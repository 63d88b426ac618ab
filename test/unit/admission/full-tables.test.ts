import { afterEach, expect, test } from 'vitest';
import type { OtherConstants } from '../../../src/config/resolved/constants.js';
import { createReservationCounts, OpenReservations } from '../../../src/doors/http/acquire/open-reservations.js';
import type { Batch, Reservation } from '../../../src/node/api/decision.js';
import { checkedDefinition, putGroup } from '../../../src/node/groups/changes/change-group.js';
import { BY_TEST } from '../../integration/changed-by.js';
import { someOf } from '../../property/seed.js';
import type { WholeNode } from '../../whole-node.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const FEW = 500;
const MANY = 16 * FEW;
/** Linear work is 16 times as dear with the larger table, a heap's 1.4 times. */
const MOST_RATIO = 5;
/** Calls whose cost is measured at once; fewer where one takes a millisecond. */
const CALLS = 400;
const DEAR_CALLS = 50;

let scenes: HttpScene[] = [];
afterEach(async () => {
  await Promise.all(scenes.map((scene) => scene.close()));
  scenes = [];
});

interface Table {
  /** Where many take seconds to make. */
  readonly few?: number;
  readonly calls?: number;
  /** Other settings, where the table is full of something that is configured. */
  readonly config?: (size: number) => Readonly<Record<string, unknown>>;
  readonly groups?: (size: number) => Readonly<Record<string, unknown>>;
  readonly constants?: (size: number) => OtherConstants;
  /** Fills the table of a node, and says what is done to it then. */
  readonly fill: (node: WholeNode, size: number) => Promise<(at: number) => unknown> | ((at: number) => unknown);
}

/** Filling the tables keeps the event loop for seconds on a busy machine: that must not be a stall of the node. */
const PATIENT = { stalenessMs: 300_000 };
const QUOTA = { quota: { publish: { messagesPerSecond: 1e9 } } };
const silent = { log: () => undefined };
const places = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, at) => [`t${at}`, 'a']));

const many = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, at) => [`group-${at}`, QUOTA]));

const TABLES: Readonly<Record<string, Table>> = {
  'batches: a take and its hand-back': {
    fill: (node, size) => {
      for (let at = 0; at < size; at++) node.gate.batches.tryTake('a', { messages: 1 });
      return () => (node.gate.batches.tryTake('a', { messages: 1 }) as Batch).refund({});
    },
  },
  'batches: ids that there are not': {
    fill: (node, size) => {
      for (let at = 0; at < size; at++) node.gate.batches.tryTake('a', { messages: 1 });
      return () => failing(() => node.gate.batches.refund('x-1', {}));
    },
  },
  'reservations of which the oldest have ended': {
    fill: (node, size) => {
      const counts = createReservationCounts();
      const open = new OpenReservations(node, silent, counts);
      const one = () => (open.reserve({ group: 'a', messages: 1 }) as { id: string }).id;
      const ids = Array.from({ length: size }, one);
      for (const id of ids.slice(0, size * 0.7)) open.end({ id });
      return () => {
        open.end({ id: one() });
        failing(() => open.end({ id: 'x-1' }));
      };
    },
  },
  'held tokens of one bucket, ended from the oldest on': {
    fill: (node, size) => {
      const held = Array.from({ length: size }, () => node.reserve('a', { messages: 2 }) as Reservation);
      return (at) => {
        held[at]?.commit({ messages: 1 });
        (node.reserve('a', { messages: 1 }) as Reservation).cancel();
      };
    },
  },
  'waits: one that comes and goes': {
    fill: (node, size) => {
      const wait = (signal?: AbortSignal) => {
        const waiting = node.acquire(
          'blocked',
          { messages: 1 },
          { waitMs: 500_000, client: 'c', ...(signal && { signal }) },
        );
        waiting.catch(() => undefined);
      };
      for (let at = 0; at < size; at++) wait();
      return () => {
        const stop = new AbortController();
        wait(stop.signal);
        stop.abort();
      };
    },
  },
  'clients: as many as there may be, and others': {
    config: (size) => ({ perClient: { publish: { messagesPerSecond: 1e-3 }, max: size } }),
    fill: (node, size) => {
      for (let at = 0; at < size; at++) node.tryAcquire('a', { messages: 1 }, { client: `c${at}` });
      return (at) => failing(() => node.tryAcquire('a', { messages: 1 }, { client: `d${at}` }));
    },
  },
  'places of attachments': {
    fill: (node, size) => {
      for (const path of Object.keys(places(size))) {
        node.attachments.define(path, { group: 'a', sameAs: null, exempt: false, andBroader: false });
      }
      return (at) => node.gate.tryAcquire({ tenant: `t${at % FEW}`, namespace: 'n' }, { messages: 1 });
    },
  },
  'groups: names that there are not': {
    few: 100,
    // Not defined by hand: the live feed looks at all of them in the log.
    groups: many,
    fill: (node) => (at) => failing(() => node.tryAcquire(`grope-${at}`, { messages: 1 })),
  },
  'costs: backends that somebody makes up': {
    fill: (node, size) => {
      for (let at = 0; at < size; at++) node.reportCost('a', { units: 1, backend: `b${at}` });
      return (at) => {
        node.reportCost('a', { units: 1, backend: `c${at}` });
        node.coordinator!.costs.costsOf(0, node.clock());
      };
    },
  },
  'backends: names that somebody makes up': {
    constants: (size) => ({ limiting: { maxBackends: Math.min(size, 10_000) } }),
    fill: (node, size) => {
      const { backends } = node.coordinator!.targets;
      const healthy = { kind: 'backend', health: { kind: 'ratio', ratio: 1 }, zone: 'a' } as const;
      const says = (backend: string, sequence: number) =>
        backends.apply({ ...healthy, backend, author: { nodeKey: 1, incarnation: 1, sequence } }, 0);
      for (let at = 0; at < Math.min(size, 10_000); at++) expect(says(`b${at}`, 1)).toBe('applied');
      return (at) => {
        failing(() => node.reportBackend(`c${at}`, { throttlingRatio: 1 }));
        expect(says(`c${at}`, 1)).toBe('too-many-backends');
        expect(says('b0', at + 2)).toBe('applied');
      };
    },
  },
  'registry: a change of one of many groups': {
    few: 100,
    calls: DEAR_CALLS,
    groups: many,
    fill: (node) => {
      return (at) => putGroup(node, 'changed', { quota: { publish: { messagesPerSecond: 1000 + at } } }, null, BY_TEST);
    },
  },
  'registry: changes that are refused': {
    few: 100,
    calls: DEAR_CALLS,
    groups: many,
    fill: async (node) => {
      await putGroup(node, 'changed', { quota: null }, null, BY_TEST);
      const wrong = { quota: { publish: { messagesPerSecond: -1 } } };
      return async (at) => {
        failing(() => checkedDefinition(node, `group-${at}`, wrong));
        await expect(putGroup(node, 'changed', { quota: null }, 99, BY_TEST)).rejects.toThrow();
      };
    },
  },
};

function failing(run: () => void): void {
  try {
    run();
  } catch (error) {
    if ((error as { code?: string }).code !== undefined) return;
    throw error;
  }
  throw new Error('it was meant to fail');
}

/** Microseconds of CPU of one call; the least of several, since the machine does other things, too. */
async function costOf(call: (at: number) => unknown, from: number, calls: number): Promise<number> {
  const began = process.cpuUsage();
  for (let at = 0; at < calls; at++) {
    const done = call(from + at);
    if (done instanceof Promise) await done;
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / calls;
}

test.each(someOf(Object.keys(TABLES)))('a full table makes no request dearer than its logarithm: %s', async (name) => {
  const { few: fewer = FEW, calls: count = CALLS, config, groups: others, constants: constantsOf, fill } = TABLES[name];
  const calls: ((at: number) => unknown)[] = [];
  for (const size of [fewer, (MANY / FEW) * fewer]) {
    const groups = {
      a: { ...QUOTA, ...config?.(size) },
      blocked: { quota: { publish: { messagesPerSecond: 0 } } },
      ...others?.(size),
    };
    const limits = { maxReservations: 2 * MANY, maxWaiting: 2 * MANY };
    const constants = constantsOf?.(size) ?? {};
    const scene = await readyScene({ groups, limits, timing: PATIENT, constants });
    scenes.push(scene);
    // No round comes in between: the loops below do not let the event loop go on.
    for (const lane of [0, 2]) scene.node.serve(lane);
    scene.node.limiter.validUntilMs.fill(Infinity);
    calls.push(await fill(scene.node, size));
  }
  const costs = [Infinity, Infinity];
  for (let turn = 0; turn < 5; turn++) {
    for (const [at, call] of calls.entries()) {
      costs[at] = Math.min(costs[at], await costOf(call, turn * count, count));
    }
  }
  const [few, many] = costs as [number, number];
  console.log(`${name}: ${few.toFixed(1)} µs with ${fewer}, ${many.toFixed(1)} µs with ${(MANY / FEW) * fewer}`);
  expect(many / few).toBeLessThan(MOST_RATIO);
});
