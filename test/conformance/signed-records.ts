import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import type { HmacConfig } from '../../src/config/resolved/resolved-config.js';
import { SignedTopic } from '../../src/topic/signed/signed-topic.js';
import { RecordingListener } from './recording-listener.js';
import { text, within } from './topic-expectations.js';
import { type ConformanceOptions, type MakeWorld, Scene } from './topic-scene.js';

const HMAC: HmacConfig = { key: 'k'.repeat(32), nextKey: null, previousKey: null, verify: 'require' };

export interface SignedRecordsOptions extends ConformanceOptions {
  /** True = everybody owns all keys, as in the registry's log: what a foreign writer writes over is written again. */
  readonly heals: boolean;
}

/**
 * What signatures promise, over the log of one adapter, where somebody else writes to it too. The promises of the port under
 * signatures are signed-topic.test.ts's.
 */
export function signedRecords(name: string, makeWorld: MakeWorld, { heals, ...options }: SignedRecordsOptions): void {
  describe(`signed records: ${name}`, () => {
    const scene = new Scene(makeWorld, options);
    beforeEach(() => scene.begin());
    afterEach(() => scene.end());

    async function openSigned() {
      const signed = {
        cluster: 'c',
        log: 'log',
        name: 'topic',
        isShared: () => heals,
        hmac: HMAC,
        telemetry: silentTelemetry,
      };
      const topic = new SignedTopic(scene.makeTopic(), signed);
      const listener = new RecordingListener();
      await within(scene.deadlineMs, 'open', () => topic.open(listener));
      return { topic, listener };
    }

    it('a foreign writer changes nothing for who reads along, nor for newcomers to the compacted log', async () => {
      const [own, along, foreign] = [await openSigned(), await openSigned(), await scene.open()];
      await own.topic.append([scene.record('kept', 'own', 0), scene.record('gone', 'own', 0)]);
      await foreign.topic.append([scene.record('kept', 'forged', 0), scene.record('new', 'forged', 0)]);
      await own.topic.append([scene.record('kept', 'own again', 0), scene.record('gone', null, 0)]);
      await own.topic.append([scene.record('end', 'own', 0)]);
      await scene.world.compact?.();
      for (const { topic, listener } of [along, await openSigned()]) {
        await listener.until('the end', () => listener.has('end'), scene.deadlineMs);
        expect(valuesOf(listener)).toEqual({ kept: 'own again', end: 'own' });
        expect(topic.signatures.unverified.unsigned).toBeGreaterThan(0);
      }
      // Signed or not, what was buried is not in the log any more.
      const plain = await scene.open();
      await plain.listener.until('the end', () => plain.listener.has('end'), scene.deadlineMs);
      expect(plain.listener.newest.get('gone') ?? null).toBeNull();
    });

    it(`what it writes over is ${heals ? 'read as a tombstone, and so written again' : 'as if nobody had written it'}`, async () => {
      const [own, along, foreign] = [await openSigned(), await openSigned(), await scene.open()];
      await own.topic.append([scene.record('state', 'own', 0)]);
      await foreign.topic.append([scene.record('state', 'forged', 0)]);
      await own.topic.append([scene.record('end', 'own', 0)]);
      await along.listener.until('the end', () => along.listener.has('end'), scene.deadlineMs);
      expect(valuesOf(along.listener)).toEqual(heals ? { end: 'own' } : { state: 'own', end: 'own' });
      expect(along.topic.signatures.unverified).toMatchObject({ unsigned: 1 });
    });
  });
}

/** Key → the newest value; without those whose newest is a tombstone. */
function valuesOf({ newest }: RecordingListener): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    [...newest].filter(([, value]) => value !== null).map(([key, value]) => [key, text(value)]),
  );
}
