import { expect, test } from 'vitest';
import { Random } from '../../sim/cluster/random.js';
import type { SimulatedNode } from '../../sim/cluster/simulated-node.js';
import { World } from '../../sim/cluster/world.js';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../src/config/resolved/resolved-config.js';
import { DIRECTION_COUNT } from '../../src/core/base/vocabulary.js';
import { Attachments } from '../../src/core/beside/attachments/attachments.js';
import { Gate } from '../../src/node/admission/gate.js';
import type { Decision } from '../../src/node/api/decision.js';
import { GroupTable } from '../../src/node/groups/group-table.js';
import { someOf } from '../property/seed.js';
import { SETTINGS } from './settings.js';

const NODES = ['a', 'b', 'c'] as const;
const PER_SECOND = 150;
const RUN_MS = 60_000;
const [KILLED_MS, BACK_MS] = [20_000, 35_000];
/** docs/guide/shadow.md promises 5 %, for live clusters. */
const WITHIN = 0.01;

/** One quota three times: enforced, planned beside one that refuses nothing, and with mode: shadow. */
function configOf(group: object): ResolvedConfig {
  const quota = { publish: { messagesPerSecond: PER_SECOND } };
  const groups = {
    enforced: { ...group, quota },
    planned: { ...group, quota: { publish: { messagesPerSecond: 1e6 } }, shadow: { quota } },
    shadowed: { ...group, quota, mode: 'shadow' },
  };
  return resolveConfig({ cluster: 'c', node: 'a', topic: 'memory', groups }, { source: '(test)' });
}

/** Production admission over the limiter and the coordinator of a simulated node. */
function gateOf({ attachments, limits }: ResolvedConfig, groups: GroupTable, node: SimulatedNode): Gate {
  const { coordinator, limiter } = node;
  const gate: Gate = new Gate({
    limiter,
    clock: () => node.nowMs,
    groups,
    keys: null,
    attachments: new Attachments(attachments, (group) => groups.numbers.has(group)),
    limits,
    defaultGroup: null,
    loop: {
      coordinator,
      get isReady() {
        return coordinator.isReady;
      },
      // As src/node/loop/node-loop.ts does it.
      serve: (lane) => {
        if (coordinator.lanes.has(lane) || !groups.isLive(Math.floor(lane / DIRECTION_COUNT))) return;
        if (gate.isFree(lane)) {
          limiter.open(lane, node.nowMs);
          return;
        }
        node.step({ kind: 'lane-served', lane });
        limiter.accrueSince(lane, coordinator.readyMs);
      },
      unpublishedCharged: () => undefined,
    },
    whyNotReady: () => '',
    chargeCosts: () => undefined,
  });
  return gate;
}

interface Refused {
  enforced: number;
  planned: number;
  shadowed: number;
  /** What the two have refused that refuse nothing. */
  reallyRefused: number;
  offered: number;
}

/**
 * 300/s on the mean, and hotter at another node every two seconds. Node c is killed, and begins anew later; its clients
 * go to the others meanwhile.
 */
function run(seed: number, group: object): Refused {
  const config = configOf(group);
  const groups = new GroupTable(config.groups, (name) => name);
  const world = new World(seed, { ...SETTINGS, groups: groups.list });
  const gates = new Map<string, Gate>();
  const processes: Gate[] = [];
  const start = (node: string, compacted = false) => {
    const gate = gateOf(config, groups, world.start(node, { compacted }));
    gates.set(node, gate);
    processes.push(gate);
  };
  for (const node of NODES) start(node);
  world.queue.after(KILLED_MS, () => world.node('c').crash());
  world.queue.after(BACK_MS, () => start('c', true));
  const refused: Refused = { enforced: 0, planned: 0, shadowed: 0, reallyRefused: 0, offered: 0 };
  const arrive = (node: string) => {
    const gate = gates.get(world.node(node).isRunning ? node : 'a') as Gate;
    if (isRefused(gate.tryAcquire('enforced', ONE))) refused.enforced++;
    for (const name of ['planned', 'shadowed']) if (isRefused(gate.tryAcquire(name, ONE))) refused.reallyRefused++;
    refused.offered++;
  };
  const random = new Random(seed);
  for (const [index, node] of NODES.entries()) {
    for (let atMs = 500; ; ) {
      const perSecond = Math.floor(atMs / 2000) % NODES.length === index ? 200 : 50;
      atMs += random.exponential(1000 / perSecond);
      if (atMs >= RUN_MS) break;
      world.queue.after(atMs, () => arrive(node));
    }
  }
  world.runFor(RUN_MS);
  for (const gate of processes) {
    for (const name of ['planned', 'shadowed'] as const) {
      const lane = gate.shadows.shadowLaneOf(DIRECTION_COUNT * gate.groupIndex(name)) as number;
      refused[name] += gate.shadows.counts.of(lane).wouldRefuse.messages;
    }
  }
  return refused;
}

const ONE = { messages: 1 };

/** A node that begins knows no share for a moment, which is no refusal by a quota. */
function isRefused(decision: Decision): boolean {
  return !decision.granted && decision.reason === 'quota';
}

test.each([
  ['a bucket', {}],
  ['a bucket, with a burst', { burst: 50 }],
  ['gates', { smoothingMs: 1 }],
])(
  'a shadow refuses what enforcement of the same quota refuses, through moving demand and the death of a node: %s',
  (limited, group) => {
    for (const seed of someOf([1, 2, 3])) {
      const { enforced, planned, shadowed, reallyRefused, offered } = run(seed, group);
      console.log(
        `${limited}, seed ${seed}: of ${offered} ${enforced} refused where enforced, ${planned} by the plan, ${shadowed} with mode: shadow`,
      );
      expect(offered).toBeGreaterThan(17_000);
      expect(enforced).toBeGreaterThan(7000);
      expect(Math.abs(planned / enforced - 1), `plan, seed ${seed}`).toBeLessThan(WITHIN);
      expect(Math.abs(shadowed / enforced - 1), `mode: shadow, seed ${seed}`).toBeLessThan(WITHIN);
      expect(reallyRefused).toBe(0);
    }
  },
);
