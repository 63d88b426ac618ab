import { describe, expect, it } from 'vitest';
import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import type { HmacConfig } from '../../../src/config/resolved/resolved-config.js';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { RecordSignature, SIGNATURE_BYTES } from '../../../src/topic/signed/record-signature.js';
import { SignedTopic, type SignedTopicOptions } from '../../../src/topic/signed/signed-topic.js';
import { RecordingListener } from '../../conformance/recording-listener.js';
import { text } from '../../conformance/topic-expectations.js';

const [OLD, NEW] = ['old'.padEnd(32, '.'), 'new'.padEnd(32, '.')];
const REQUIRE = hmacOf(OLD);
const WARN = hmacOf(OLD, { verify: 'warn' });
const PLACE = { partition: 0, key: 'node/1' };
const VALUE = Buffer.from('a report');
const LOG = { cluster: 'c', log: 'reports' };

function hmacOf(key: string, others: Partial<HmacConfig> = {}): HmacConfig {
  return { key, nextKey: null, previousKey: null, verify: 'require', ...others };
}

describe('a signature', () => {
  const signature = new RecordSignature(REQUIRE, LOG);
  const signed = signature.sign(PLACE, VALUE);

  it('stands behind the value, in a field that others skip, and holds', () => {
    expect(signed.subarray(0, VALUE.length)).toEqual(VALUE);
    expect(signed).toHaveLength(VALUE.length + SIGNATURE_BYTES);
    expect(signature.verify(PLACE, signed)).toBe('key');
    expect(signature.verify(PLACE, VALUE)).toBe('unsigned');
    expect(signature.verify(PLACE, new Uint8Array())).toBe('unsigned');
  });

  it('holds for no other bytes: each single bit of value and MAC counts', () => {
    const verdicts = Array.from({ length: signed.length * 8 }, (_, bit) => {
      const tampered = Buffer.from(signed);
      tampered[bit >> 3] = tampered[bit >> 3] ^ (1 << (bit & 7));
      return signature.verify(PLACE, tampered);
    });
    expect(verdicts).not.toContain('key');
    expect(verdicts.filter((verdict) => verdict === 'wrong-signature')).toHaveLength((VALUE.length + 16) * 8);
  });

  it.each([
    ['another key', { ...PLACE, key: 'node/2' }, LOG],
    ['another partition', { ...PLACE, partition: 1 }, LOG],
    ['the other log', PLACE, { ...LOG, log: 'registry' }],
    ['another cluster', PLACE, { ...LOG, cluster: 'd' }],
  ])('holds under no other place: %s', (_, place, log) => {
    expect(new RecordSignature(REQUIRE, log).verify(place, signed)).toBe('wrong-signature');
  });

  it('tells which key has signed', () => {
    const withNext = new RecordSignature(hmacOf(NEW, { nextKey: OLD }), LOG);
    const withPrevious = new RecordSignature(hmacOf(NEW, { previousKey: OLD }), LOG);
    expect(withNext.verify(PLACE, signed)).toBe('next-key');
    expect(withPrevious.verify(PLACE, signed)).toBe('previous-key');
    expect(new RecordSignature(hmacOf(NEW), LOG).verify(PLACE, signed)).toBe('unknown-key');
    expect(withNext.keyId).not.toBe(signature.keyId);
  });
});

describe('a signed topic', () => {
  it('of the registry reads a forged record as the tombstone that it is: what it hides is written again', async () => {
    const log = createMemoryLog();
    const [foreign, reader] = [plain(log), signing(log, REQUIRE, { isShared: () => true })];
    for (const each of [foreign, reader]) await each.topic.open(each.listener);
    await foreign.topic.append([record('state', 'forged')]);
    expect(await firstOf(reader.listener)).toMatchObject({ key: 'state', value: null });
  });
});

describe('rolling changes lose nothing', () => {
  const stages: readonly (readonly [string, readonly (HmacConfig | null)[]])[] = [
    ['introduction', [null, WARN, REQUIRE]],
    ['rotation', [REQUIRE, hmacOf(OLD, { nextKey: NEW }), hmacOf(NEW, { previousKey: OLD }), hmacOf(NEW)]],
    ['removal', [REQUIRE, WARN, null]],
  ];

  it.each(stages)('%s: nodes of neighbouring steps believe each other', async (_, steps) => {
    for (let at = 0; at + 1 < steps.length; at++) {
      const log = createMemoryLog();
      const nodes = steps.slice(at, at + 2).map((hmac) => (hmac === null ? plain(log) : signing(log, hmac)));
      for (const { topic, listener } of nodes) await topic.open(listener);
      for (const [author, { topic }] of nodes.entries()) await topic.append([record(`node-${author}`, 'here')]);
      for (const { listener } of nodes) {
        await listener.until('both', () => listener.has('node-0') && listener.has('node-1'), 2000);
      }
    }
  });

  it('what is to be renewed is marked: by the previous key or none, never by the next', async () => {
    const cases: readonly (readonly [HmacConfig | null, HmacConfig, true | undefined, object])[] = [
      [null, WARN, true, { unverifiedKeys: 1, previousKeys: 0 }],
      [REQUIRE, hmacOf(NEW, { previousKey: OLD }), true, { unverifiedKeys: 0, previousKeys: 1 }],
      [hmacOf(NEW), hmacOf(OLD, { nextKey: NEW }), undefined, { unverifiedKeys: 0, previousKeys: 0 }],
    ];
    for (const [writing, reading, isToRenew, counts] of cases) {
      const log = createMemoryLog();
      const writer = writing === null ? plain(log) : signing(log, writing);
      const reader = signing(log, reading);
      for (const { topic, listener } of [writer, reader]) await topic.open(listener);
      await writer.topic.append([record('state', 'old')]);
      expect((await firstOf(reader.listener)).isToRenew).toBe(isToRenew);
      expect(reader.topic.signatures).toMatchObject(counts);
      await reader.topic.append([record('state', 'new')]);
      await reader.listener.until('its own', () => text(reader.listener.newest.get('state') ?? null) === 'new', 2000);
      expect(reader.topic.signatures).toMatchObject({ unverifiedKeys: 0, previousKeys: 0 });
    }
  });
});

function plain(log: MemoryLog) {
  return { topic: new MemoryTopic(log), listener: new RecordingListener() };
}

function signing(log: MemoryLog, hmac: HmacConfig, options: Partial<SignedTopicOptions> = {}) {
  const telemetry = { log: () => undefined };
  const all = { ...LOG, name: 'topic', isShared: () => false, hmac, telemetry, ...options };
  return { topic: new SignedTopic(new MemoryTopic(log), all), listener: new RecordingListener() };
}

function record(key: string, value: string) {
  return { partition: 0, key, value: Buffer.from(value) };
}

async function firstOf(listener: RecordingListener): Promise<ReadRecord> {
  await listener.until('a record', () => listener.records.length > 0, 2000);
  return listener.records[0];
}
