import './seed.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Append } from '../../src/core/coordinator-protocol.js';
import { OutgoingQueue } from '../../src/core/topic/outgoing-queue.js';

const PARTITIONS = 3;
const KEYS = ['NODE', 'bucket-0', 'bucket-1', 'bucket-2'];

const act = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      places: fc.array(fc.tuple(fc.nat(PARTITIONS - 1), fc.constantFrom(...KEYS)), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'send' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'succeed' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'fail' as const }) },
);

/** One author in front of the queue, and the log behind it. */
class Scene {
  readonly queue = new OutgoingQueue();
  readonly log: Append[] = [];
  readonly newest = new Map<string, number>();
  readonly lost = new Set<string>();
  #sequence = 0;
  #underWay: readonly Append[] | null = null;

  say(places: readonly (readonly [number, string])[]): void {
    this.queue.add(
      places.map(([partition, key]) => {
        const sequence = ++this.#sequence;
        this.newest.set(`${partition}:${key}`, sequence);
        this.lost.delete(`${partition}:${key}`);
        const author = { nodeKey: 7, incarnation: 65_536, sequence };
        return { partition, key, record: { kind: 'node', author, nodeId: 'a', version: 't' } };
      }),
    );
  }

  send(): void {
    const next = this.queue.takeNext();
    if (next === null) return;
    expect(this.#underWay, 'one produce at a time').toBeNull();
    this.#underWay = next;
  }

  succeed(): void {
    if (this.#underWay === null) return;
    this.log.push(...this.#underWay);
    this.#underWay = null;
    this.queue.succeeded();
  }

  fail(): void {
    if (this.#underWay === null) return;
    const failed = this.#underWay.filter((append) => sequenceOf(append) === this.newest.get(placeOf(append)));
    for (const append of failed) this.lost.add(placeOf(append));
    this.#underWay = null;
    expect([...this.queue.failed()].sort()).toEqual(failed.map(({ key }) => key).sort());
  }
}

function placeOf({ partition, key }: Append): string {
  return `${partition}:${key}`;
}

function sequenceOf({ record }: Append): number {
  return record?.author.sequence ?? -1;
}

function played(acts: readonly (typeof act extends fc.Arbitrary<infer Act> ? Act : never)[]): Scene {
  const scene = new Scene();
  for (const one of acts) {
    if (one.kind === 'say') scene.say(one.places);
    else scene[one.kind]();
  }
  scene.succeed();
  scene.send();
  scene.succeed();
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
    { numRuns: 2000 },
  );
});

test('the newest record of each key is sent, but for those whose failure was told', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const { log, newest, lost, queue } = played(acts);
      const written = new Map(log.map((append) => [placeOf(append), sequenceOf(append)]));
      for (const [place, sequence] of newest) {
        if (!lost.has(place)) expect(written.get(place), place).toBe(sequence);
      }
      expect(queue.size).toBe(0);
    }),
    { numRuns: 2000 },
  );
});
