import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { kafkajsLogger, parseAddress } from '../../../src/topic/kafka/broker-link.js';
import { KAFKAJS_VERSION, type Logger, loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { Backoff } from '../../../src/topic/remote/backoff.js';
import { withDeadline } from '../../../src/topic/remote/deadline.js';

function blockEventLoop(forMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
}

describe('deadline', () => {
  it('settles as the work does, or rejects when the time is up', async () => {
    const late = () => new Error('late');
    await expect(withDeadline(Promise.resolve(1), 1000, late)).resolves.toBe(1);
    await expect(withDeadline(Promise.reject(new Error('failed')), 1000, late)).rejects.toThrow('failed');
    await expect(withDeadline(new Promise(() => {}), 10, late)).rejects.toThrow('late');
  });

  it('gives an answer that arrived while our own event loop slept the time to be read', async () => {
    const work = withDeadline(sleep(60), 20, () => new Error('late'));
    blockEventLoop(400);
    await expect(work).resolves.toBeUndefined();
  });

  it('expires after a pause of our own, too, when there is no answer', async () => {
    const work = withDeadline(new Promise(() => {}), 20, () => new Error('late'));
    blockEventLoop(400);
    await expect(work).rejects.toThrow('late');
  });
});

describe('backoff', () => {
  it('doubles from 100 ms to 1 s, a fifth more or less, and begins again', () => {
    const backoff = new Backoff();
    for (const nominal of [100, 200, 400, 800, 1000, 1000]) {
      const waitMs = backoff.next();
      expect(waitMs).toBeGreaterThanOrEqual(0.8 * nominal);
      expect(waitMs).toBeLessThanOrEqual(1.2 * nominal);
    }
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(120);
  });
});

describe('kafkajs', () => {
  it('is refused by name in any other version than the one whose internals we know', () => {
    const other = () => ({ version: '2.2.5' });
    expect(() => loadKafkajs(other)).toThrow(
      expect.objectContaining({ code: 'KAFKAJS_VERSION', facts: { wanted: KAFKAJS_VERSION, found: '2.2.5' } }),
    );
  });

  it('writes to our log as debug, without its own time stamps, and nothing below a warning', () => {
    const lines: unknown[] = [];
    const logger = kafkajsLogger(loadKafkajs(), (...line) => lines.push(line)).namespace('Connection') as Logger &
      Record<'info' | 'error', (message: string, facts: object) => void>;
    logger.info('connected', {});
    logger.error('refused', { broker: 'host:1' });
    expect(lines).toEqual([
      ['debug', 'kafkajs: refused', { kafkajsLevel: 'ERROR', part: 'Connection', broker: 'host:1' }],
    ]);
  });
});

describe('addresses', () => {
  it.each([
    ['host:9092', { host: 'host', port: 9092 }],
    ['127.0.0.1:1', { host: '127.0.0.1', port: 1 }],
    ['[::1]:9092', { host: '::1', port: 9092 }],
  ])('%s', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it.each(['host', ':9092', 'host:port'])('%s is none', (text) => {
    expect(() => parseAddress(text)).toThrow(/no host:port/);
  });
});
