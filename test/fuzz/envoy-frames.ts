import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { envoy } from '../../src/doors/envoy/generated/messages.js';
import { framed, MessageReader } from '../../src/doors/envoy/grpc/message-reader.js';
import { limitedNames } from '../../src/doors/envoy/limited-names.js';
import { RateLimitService } from '../../src/doors/envoy/ratelimit/rate-limit-service.js';
import { NamesAsRules } from '../../src/doors/envoy/rules/names-as-rules.js';
import { startParts } from '../../src/node/loop/start-node.js';
import { domainsOf } from '../unit/envoy/known-domains.js';
import { prepareWholeNode } from '../whole-node.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;

/**
 * Sends requests of the rate limit service through reader and service: good ones, ones with bytes changed, left out or
 * put in, and noise, cut at random places. Every good one is answered, every other one answered or refused by a known
 * error; nothing stays held, and memory is bounded.
 */
export async function fuzzEnvoyFrames(count: number, seed: number): Promise<void> {
  const draw = drawer(seed);
  const perDay = { quota: { publish: { messagesPerSecond: '1M/d' } } };
  const config = { cluster: `fuzz-${process.pid}-${seed}`, node: 'a', topic: 'memory' };
  const node = await prepareWholeNode({
    config: { ...config, groups: { 'edge/all:x': perDay }, keys: { 'edge/user:{id}': perDay, maxLive: 10_000 } },
  });
  await startParts(node);
  const rules = new NamesAsRules(limitedNames(node), node.clock);
  const service = new RateLimitService({ node, rules, names: rules, domains: domainsOf(rules) });
  const [method] = service.methods;
  if (method?.kind !== 'unary') throw new Error('no method');
  const held = { bytes: 0, max: 1_000_000 };
  const told = { answered: 0, refused: 0 };
  let isGood = false;
  const take = (message: Buffer) => {
    const answer = method.answer(message, { caller: null, peer: 'fuzz', leftMs: 1000 }) as Uint8Array;
    const { statuses } = RateLimitResponse.decode(answer);
    expect(statuses.length).toBeGreaterThan(0);
    told.answered++;
  };
  let reader = new MessageReader(65_536, held, take);
  for (let sent = 0; sent < count; sent++) {
    isGood = draw(3) === 0;
    const good = requestOf(draw);
    const frame = isGood ? framed(good) : changed(framed(good), draw);
    const answered = told.answered;
    try {
      for (let at = 0; at < frame.length; ) {
        const end = Math.min(frame.length, at + 1 + draw(draw(4) === 0 ? 4 : 2 * frame.length));
        reader.push(frame.subarray(at, end));
        at = end;
      }
    } catch (error) {
      if (!(error instanceof QuotameshError) || error.code === 'UNEXPECTED') throw error;
      if (error.code === 'NOT_READY') {
        // A node that was not served for a while decides nothing until it has read its log.
        await sleep(5);
        sent--;
        reader.close();
        continue;
      }
      told.refused++;
      expect(isGood, error.message).toBe(false);
    }
    if (isGood) expect(told.answered).toBe(answered + 1);
    // A stream ends with its first mistake, and with what has not arrived.
    reader.close();
    if (!isGood) reader = new MessageReader(65_536, held, take);
    expect(held.bytes).toBe(0);
    if (sent % 100 === 99) await new Promise(setImmediate);
  }
  expect(told.answered).toBeGreaterThan(count / 3 - 3 * Math.sqrt(count));
  expect(told.refused).toBeGreaterThan(count / 10);
  expect(Object.keys(service.counts.refusedBy).length).toBeLessThanOrEqual(2);
  await node.close();
}

type Draw = (below: number) => number;

function drawer(seed: number): Draw {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}

function requestOf(draw: Draw): Uint8Array {
  const descriptors = Array.from({ length: 1 + draw(4) }, () => ({
    entries: Array.from({ length: draw(3) }, () => ({ key: KEYS[draw(KEYS.length)]!, value: textOf(draw) })),
    ...(draw(4) === 0 ? { hitsAddend: { value: draw(3) } } : {}),
    ...(draw(4) === 0 ? { limit: { requestsPerUnit: draw(2 ** 32), unit: draw(9) } } : {}),
  }));
  return RateLimitRequest.encode({ domain: DOMAINS[draw(3)]!, descriptors, hitsAddend: draw(4) }).finish();
}

function textOf(draw: Draw): string {
  if (draw(3) === 0) return 'x';
  return String.fromCodePoint(...Array.from({ length: draw(12) }, () => 1 + draw(0xd7ff)));
}

function changed(frame: Buffer, draw: Draw): Buffer {
  const bytes = [...frame];
  for (let changes = 1 + draw(4); changes > 0; changes--) {
    const at = draw(bytes.length + 1);
    const kind = draw(4);
    if (kind === 0) bytes.splice(at, 1 + draw(5));
    else if (kind === 1) bytes.splice(at, 0, ...Array.from({ length: 1 + draw(5) }, () => draw(256)));
    else if (at < bytes.length) bytes[at] = kind === 2 ? draw(256) : (bytes[at] as number) ^ (1 << draw(8));
  }
  return Buffer.from(bytes);
}

const KEYS = ['user', 'all', '', 'généric_key', 'a:b/c'];
const DOMAINS = ['edge', 'other', 'e/d'];
