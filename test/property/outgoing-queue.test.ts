import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Append } from '../../src/core/base/protocol/events-and-effects.js';
import { OutgoingQueue, type Produce } from '../../src/core/log/outgoing-queue.js';
import { runs } from './seed.js';

const PARTITIONS = 3;
const KEYS = ['NODE', 'bucket-0', 'bucket-1', 'bucket-2'];

const act = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      destinations: fc.array(fc.tuple(fc.nat(PARTITIONS - 1), fc.constantFrom(...KEYS)), {
        minLength: 1,
        maxLength: 6,
      }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'send' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('succeed' as const), partition: fc.nat(PARTITIONS - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), partition: fc.nat(PARTITIONS - 1) }) },
);

/** One author in front of the queue, and the log behind it. */
class Scene {
  readonly queue = new OutgoingQueue();
  readonly log: Append[] = [];
  readonly newest = new Map<string, number>();
  readonly lost = new Set<string>();
  readonly waiting = new Set<string>();
  #sequence = 0;
  readonly #underWay = new Map<number, Produce>();

  get isSending(): boolean {
    return this.#underWay.size > 0;
  }

  say(destinations: readonly (readonly [number, string])[]): void {
    this.queue.add(
      destinations.map(([partition, key]) => {
        const sequence = ++this.#sequence;
        this.newest.set(`${partition}:${key}`, sequence);
        this.lost.delete(`${partition}:${key}`);
        this.waiting.add(`${partition}:${key}`);
        const author = { nodeKey: 7, incarnation: 65_536, sequence };
        return { partition, key, record: { kind: 'node', author, nodeId: 'a', version: 't' } };
      }),
    );
  }

  /** All that may be sent; returns whether there was any. */
  send(): boolean {
    let sent = false;
    for (let next = this.queue.takeNext(); next !== null; next = this.queue.takeNext()) {
      expect(this.#underWay.has(next.partition), 'one produce per partition at a time').toBe(false);
      expect(next.appends.every(({ partition }) => partition === next?.partition)).toBe(true);
      this.#underWay.set(next.partition, next);
      for (const append of next.appends) this.waiting.delete(destinationOf(append));
      sent = true;
    }
    return sent;
  }

  succeed(partition: number): void {
    const ended = this.#underWay.get(partition);
    if (!this.#underWay.delete(partition)) return;
    this.log.push(...(ended?.appends ?? []));
    this.queue.succeeded(partition);
  }

  fail(partition: number): void {
    const ended = this.#underWay.get(partition);
    if (!this.#underWay.delete(partition)) return;
    const failed = (ended?.appends ?? []).filter(
      (append) => sequenceOf(append) === this.newest.get(destinationOf(append)),
    );
    for (const append of failed) this.lost.add(destinationOf(append));
    expect([...this.queue.failed(partition)].sort()).toEqual(failed.map(({ key }) => key).sort());
  }

  succeedAll(): void {
    for (let partition = 0; partition < PARTITIONS; partition++) this.succeed(partition);
  }
}

function destinationOf({ partition, key }: Append): string {
  return `${partition}:${key}`;
}

function sequenceOf({ record }: Append): number {
  return record?.author.sequence ?? -1;
}

type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

function play(scene: Scene, one: Act): void {
  if (one.kind === 'say') scene.say(one.destinations);
  else if (one.kind === 'send') scene.send();
  else scene[one.kind](one.partition);
}

function played(acts: readonly Act[]): Scene {
  const scene = new Scene();
  for (const one of acts) play(scene, one);
  scene.succeedAll();
  scene.send();
  scene.succeedAll();
  return scene;
}

test('whatever is sent when, the records of one author reach each partition in rising sequence, none twice', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const { log } = played(acts);
      for (let partition = 0; partition < PARTITIONS; partition++) {
        const sequences = log.filter((append) => append.partition === partition).map(sequenceOf);
        const rising = [...new Set(sequences)].sort((left, right) => left - right);
        expect(sequences).toEqual(rising);
      }
    }),
    runs(2000),
  );
});

test('the newest record of each key is sent, but for those whose failure was told', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const { log, newest, lost, queue } = played(acts);
      const written = new Map(log.map((append) => [destinationOf(append), sequenceOf(append)]));
      for (const [destination, sequence] of newest) {
        if (!lost.has(destination)) expect(written.get(destination), destination).toBe(sequence);
      }
      expect(queue.size).toBe(0);
    }),
    runs(2000),
  );
});

test('how many keys wait, and whether anything is under way, is known at any time: a node that ends waits for both', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const scene = new Scene();
      for (const one of acts) {
        play(scene, one);
        expect([scene.queue.size, scene.queue.isSending]).toEqual([scene.waiting.size, scene.isSending]);
      }
    }),
  );
});

test('whatever is under way, a partition that has none waits for nobody', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), fc.nat(PARTITIONS - 1), (acts, stuck) => {
      const scene = new Scene();
      scene.say([[stuck, 'NODE']]);
      scene.send();
      for (const one of acts) if (one.kind === 'say') scene.say(one.destinations);
      const others = [...scene.newest.keys()].some((destination) => !destination.startsWith(`${stuck}:`));
      expect(scene.send()).toBe(others);
    }),
  );
});
