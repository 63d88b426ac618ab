import { afterEach, expect, test } from 'vitest';
import { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import type { AppendRecord, ReportTopicListener } from '../../../src/base/ports/report-topic.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { attachmentName } from '../../../src/core/beside/registry/registry-record.js';
import { DEGRADED, type DegradedKind } from '../../../src/node/status/degraded.js';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { BY_TEST } from '../../integration/changed-by.js';
import { someOf } from '../../property/seed.js';
import { WholeNode } from '../../whole-node.js';
import { VirtualTime } from '../demo/virtual-time.js';
import { AwayTopic } from './away-topic.js';

/** Refuses appends while it is full, and works again with the first one that it takes: so do full disks and stores. */
class FullTopic extends MemoryTopic {
  #isFull = false;
  #listener: ReportTopicListener | undefined;

  fill(): void {
    this.#isFull = true;
  }

  empty(): void {
    this.#isFull = false;
  }

  override open(listener: ReportTopicListener): Promise<void> {
    this.#listener = listener;
    return super.open(listener);
  }

  override async append(records: readonly AppendRecord[]): Promise<void> {
    if (this.#isFull) {
      this.#listener?.onLost('there is no room');
      throw new QuotameshError('APPEND_REFUSED', { topic: 'memory', reason: 'there is no room' });
    }
    await super.append(records);
    this.#listener?.onRecovered();
  }
}

interface Scene {
  readonly time: VirtualTime;
  readonly a: WholeNode;
  readonly b: WholeNode;
  readonly c: WholeNode;
  readonly log: MemoryLog;
  readonly registryLog: MemoryLog;
  readonly topic: FullTopic;
  readonly registryTopic: FullTopic;
  readonly away: AwayTopic;
}

interface Story {
  /** Makes the reason at node `a`, or at the node that `at` names, within `withinMs`. */
  readonly make: (scene: Scene) => unknown;
  readonly withinMs?: number;
  readonly at?: 'b' | 'c';
  /** Ends the cause, and no more: nobody changes, asks or starts anything afterwards. */
  readonly end: (scene: Scene) => unknown;
}

const MANY = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`busy-${at}`, { quota: PER_SECOND(10) }]));

function PER_SECOND(messagesPerSecond: number) {
  return { publish: { messagesPerSecond } };
}

const GROUPS = { orders: { quota: PER_SECOND(100) }, ...MANY };
const STRICT = { promise: 'strict', quota: PER_SECOND(100) };
const NOTHING = () => undefined;

function configOf(node: string, others: object = {}) {
  const raw = { cluster: 'ends', node, topic: 'memory', groups: GROUPS, ...others };
  const constants = { timing: { maxReportsPerSecond: 1 }, ...(node === 'b' && { registry: { maxAttachments: 1 } }) };
  return resolveConfig(raw, { source: '(test)', env: {}, constants });
}

const registryTopicOf = ({ registry }: WholeNode) => registry?.topic as FullTopic;
const refusalsOf = ({ a }: Scene) =>
  a.coordinator?.log.refusals as NonNullable<typeof a.coordinator>['log']['refusals'];
const propose = (node: WholeNode, entry: string, definition: object | null) =>
  node.registry?.propose(entry, null, definition as Readonly<Record<string, unknown>> | null, BY_TEST).catch(NOTHING);
const sign = ({ a }: Scene, signatures: object) => Object.assign(a.topic, { signatures: { ...SIGNED, ...signatures } });
const SIGNED = {
  keyId: 'k',
  mode: 'require',
  verified: {},
  unverified: { unsigned: 1 },
  unverifiedKeys: 0,
  previousKeys: 0,
};

const STORIES: Readonly<Record<DegradedKind, Story>> = {
  alone: { at: 'c', make: NOTHING, end: ({ away }) => away.come() },
  'topic-lost': { make: ({ topic }) => topic.fill(), end: ({ topic }) => topic.empty() },
  isolated: { make: ({ topic }) => topic.fill(), end: ({ topic }) => topic.empty() },
  epoch: {
    make: ({ log, b }) => {
      (b.topic as FullTopic).fill();
      log.makeAnew();
    },
    end: ({ b }) => (b.topic as FullTopic).empty(),
  },
  // As the reader counts them: each names a record that was refused, and no further one comes.
  'nodes-refused': { make: (scene) => refusalsOf(scene).node('x', performance.now()), end: NOTHING },
  'reports-refused': { make: (scene) => refusalsOf(scene).rows('too-many-rows', 'x', performance.now()), end: NOTHING },
  'charges-refused': { make: (scene) => refusalsOf(scene).charge('x', performance.now()), end: NOTHING },
  'topic-throttled': {
    make: ({ a }) => Object.assign(a.topic, { throttled: 'a broker throttles us' }),
    end: ({ a }) => Object.assign(a.topic, { throttled: null }),
  },
  'partitions-added': {
    make: ({ a }) => Object.assign(a.topic, { partitionsFound: 2 }),
    end: ({ a }) => Object.assign(a.topic, { partitionsFound: 1 }),
  },
  'topic-settings': {
    make: ({ registryTopic }) => Object.assign(registryTopic, { settingsMistake: 'cleanup.policy is delete' }),
    end: ({ registryTopic }) => Object.assign(registryTopic, { settingsMistake: null }),
  },
  'registry-lost': {
    make: ({ a, registryTopic }) => {
      registryTopic.fill();
      propose(a, 'new', {});
    },
    end: ({ registryTopic }) => registryTopic.empty(),
  },
  'registry-log': {
    make: async ({ a, b, time, registryLog }) => {
      propose(a, 'kept', {});
      await time.advance(2000);
      for (const node of [a, b]) registryTopicOf(node).fill();
      registryLog.makeAnew();
    },
    end: ({ a, b }) => {
      for (const node of [a, b]) registryTopicOf(node).empty();
    },
  },
  'registry-refused': {
    at: 'b',
    make: async ({ a, time }) => {
      for (const tenant of ['one', 'two']) propose(a, attachmentName(tenant), { group: 'orders' });
      await time.advance(1000);
    },
    end: ({ a }) => propose(a, attachmentName('one'), null),
  },
  apart: {
    make: (scene) => sign(scene, { strangers: 2, isApart: true }),
    end: (scene) => sign(scene, { isApart: false }),
  },
  unsigned: {
    make: (scene) => sign(scene, { sinceUnverifiedMs: 1000 }),
    end: (scene) => sign(scene, { sinceUnverifiedMs: 300_001 }),
  },
  'attachment-dangling': {
    make: ({ a }) => propose(a, attachmentName('lost'), { group: 'gone' }),
    end: ({ b }) => propose(b, 'gone', {}),
  },
  'config-refused': {
    make: ({ a }) => a.yaml.refuse(new Error('a mistake')),
    end: ({ a }) => a.yaml.take(configOf('a')),
  },
  'rules-refused': {
    make: ({ a }) => a.yaml.rules.refuse('a mistake'),
    end: ({ a }) => a.yaml.rules.take(() => null),
  },
  'rules-away': {
    make: ({ a }) => Object.assign(a.yaml.rules, { serverAway: 'it is down' }),
    end: ({ a }) => Object.assign(a.yaml.rules, { serverAway: null }),
  },
  'needs-restart': {
    make: ({ a }) => a.yaml.take(configOf('a', { timing: { heartbeatMs: 900 } })),
    end: ({ a }) => a.yaml.take(configOf('a')),
  },
  'yaml-differs': {
    make: ({ b }) => b.yaml.take(configOf('b', { groups: { ...GROUPS, more: {} } })),
    end: ({ b }) => b.yaml.take(configOf('b')),
  },
  strict: {
    make: ({ a, b }) => {
      a.yaml.take(configOf('a', { groups: { ...GROUPS, paid: STRICT } }));
      b.yaml.take(configOf('b', { groups: { ...GROUPS, paid: {} } }));
    },
    end: ({ b }) => b.yaml.take(configOf('b')),
  },
  'strict-awaits': {
    make: ({ a }) => a.yaml.take(configOf('a', { groups: { ...GROUPS, orders: STRICT } })),
    end: ({ a }) => a.yaml.take(configOf('a')),
  },
  'reports-wait': {
    make: async ({ a, time }) => {
      for (let second = 0; second < 8; second++) {
        for (const group of Object.keys(MANY)) {
          for (let at = 0; at < 5 * (1 + (second % 3)); at++) a.tryAcquire(group, { messages: 1, bytes: 0 });
        }
        await time.advance(1000);
      }
    },
    withinMs: 0,
    end: NOTHING,
  },
};

const MAKES_WITHIN_MS = 8000;
/** Longer than anything that is shown for a while after it was seen. */
const ENDS_WITHIN_MS = 65_000;

const opened: VirtualTime[] = [];
afterEach(() => {
  for (const time of opened.splice(0)) time.end();
});

test.each(someOf(Object.keys(DEGRADED) as DegradedKind[]))(
  '%s ends by itself when its cause has ended',
  async (kind) => {
    const { make, withinMs = MAKES_WITHIN_MS, at = 'a', end } = STORIES[kind];
    const scene = await sceneOf();
    const { time } = scene;
    const reasons = () => DEGRADED[kind](scene[at], performance.now());
    if (kind !== 'alone') expect(reasons()).toEqual([]);
    await make(scene);
    await until(time, withinMs, () => reasons().length > 0);
    expect(scene[at].status().degraded).toEqual(expect.arrayContaining([...reasons()]));
    await end(scene);
    await until(time, ENDS_WITHIN_MS, () => reasons().length === 0);
    const closed = Promise.all([scene.a, scene.b, scene.c].map((node) => node.close()));
    await time.advance(3000);
    await closed;
  },
);

async function until(time: VirtualTime, withinMs: number, isSo: () => boolean): Promise<void> {
  const untilMs = performance.now() + withinMs;
  while (!isSo() && performance.now() < untilMs) await time.advance(10);
  expect(isSo()).toBe(true);
}

/** Two nodes that see each other, and one that has begun alone. */
async function sceneOf(): Promise<Scene> {
  const time = new VirtualTime();
  opened.push(time);
  const log = createMemoryLog();
  const registryLog = createMemoryLog();
  const make = (nodeId: string, topic: MemoryTopic, others: object, registry = registryLog) => {
    const config = configOf(nodeId, others);
    const parts = { config, topic, registryTopic: new FullTopic(registry), telemetry: silentTelemetry };
    return new WholeNode({ ...parts, version: '0', nonce: nodeId.charCodeAt(0), clock: () => performance.now() });
  };
  const topic = new FullTopic(log);
  const away = new AwayTopic(createMemoryLog());
  const a = make('a', topic, {});
  const b = make('b', new FullTopic(log), {});
  const c = make('c', away, { start: { policy: 'alone', nodeCount: 3 } }, createMemoryLog());
  const started = Promise.all([a, b, c].map((node) => node.start()));
  await time.advance(6000);
  await started;
  return { time, a, b, c, log, registryLog, topic, registryTopic: registryTopicOf(a), away };
}
