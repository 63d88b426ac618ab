import { describe, expect, it } from 'vitest';
import type { AppendRecord } from '../../../src/base/ports/report-topic.js';
import { Outbox, PARCEL_BYTES_MAX, type Parcel } from '../../../src/topic/remote/outbox.js';
import { PendingAppends } from '../../../src/topic/remote/pending-appends.js';
import { settled } from '../../conformance/topic-expectations.js';

function record(partition: number, key: string, bytes = 10): AppendRecord {
  return { partition, key, value: Buffer.alloc(bytes - Buffer.byteLength(key)) };
}

function keysOf(parcels: readonly Parcel[]): string[] {
  return parcels.flatMap(({ records }) => records.map(({ key }) => key));
}

function make(timeoutMs = 5000) {
  const outbox = new Outbox();
  const appends = new PendingAppends('topic', timeoutMs, outbox);
  const answers: (Error | null)[] = [];
  const append = (...records: AppendRecord[]) => settled(appends.append(records, (error) => answers.push(error)));
  return { outbox, appends, append, answers };
}

describe('what waits for a leader', () => {
  it('goes out in order per partition, as much at once as fits', () => {
    const { outbox, append } = make();
    void append(record(0, 'a'), record(1, 'b'), record(0, 'c'));
    void append(record(1, 'd'), record(2, 'e'));
    expect(keysOf(outbox.take([0, 1]))).toEqual(['a', 'c', 'b', 'd']);
    expect(keysOf(outbox.take([0, 1]))).toEqual([]);
    expect(keysOf(outbox.take([2]))).toEqual(['e']);
  });

  it('is cut into pieces that fit into a batch, and one that never fits goes alone', () => {
    const { outbox, append } = make();
    const third = PARCEL_BYTES_MAX / 3;
    void append(...['a', 'b', 'c', 'd'].map((key) => record(0, key, third)), record(0, 'huge', PARCEL_BYTES_MAX + 1));
    expect(keysOf(outbox.take([0]))).toEqual(['a', 'b', 'c']);
    expect(keysOf(outbox.take([0]))).toEqual(['d']);
    expect(keysOf(outbox.take([0]))).toEqual(['huge']);
  });

  it('wakes those who wait for it: when something is put, and when they stop', async () => {
    const { outbox, append } = make();
    const woken: string[] = [];
    const [stopping, going] = [new AbortController(), new AbortController()];
    const stopped = outbox.nextPut(stopping.signal).then(() => woken.push('stopped'));
    const waiting = outbox.nextPut(going.signal).then(() => woken.push('put'));
    stopping.abort();
    await stopped;
    expect(woken).toEqual(['stopped']);
    void append(record(0, 'a'));
    await waiting;
    expect(woken).toEqual(['stopped', 'put']);
  });
});

describe('an append', () => {
  it('is done with its last parcel', async () => {
    const { outbox, append, answers } = make();
    const outcome = append(record(0, 'a'), record(1, 'b'));
    outbox.take([0])[0].settle(null);
    expect(await Promise.race([outcome, Promise.resolve('pending')])).toBe('pending');
    outbox.take([1])[0].settle(null);
    expect(await outcome).toBe('done');
    expect(answers).toEqual([null, null]);
  });

  it('fails with its first failed parcel; what has not been sent never is', async () => {
    const { outbox, append } = make();
    const outcome = append(record(0, 'a'), record(1, 'b'));
    outbox.take([0])[0].settle(new Error('connection closed'));
    expect(await outcome).toBe('TOPIC_UNREACHABLE');
    expect(outbox.take([1])).toEqual([]);
  });

  it('is given up in time; the answer that comes later is still heard', async () => {
    const { outbox, append, answers } = make(20);
    const sent = append(record(1, 'sent'));
    const [parcel] = outbox.take([1]);
    const waiting = append(record(0, 'waiting'));
    expect(await sent).toBe('APPEND_TIMED_OUT');
    expect(await waiting).toBe('APPEND_TIMED_OUT');
    expect(outbox.take([0])).toEqual([]);
    parcel.settle(null);
    expect(answers).toEqual([null]);
  });

  it('is refused at once when too many wait already, by number or by size', async () => {
    const many = make();
    const outcomes = Array.from({ length: 1001 }, (_, i) => many.append(record(0, `${i}`)));
    expect(await outcomes[1000]).toBe('APPEND_REFUSED');
    const large = make();
    void large.append(...Array.from({ length: 64 }, (_, i) => record(0, `${i}`, PARCEL_BYTES_MAX)));
    expect(await large.append(record(0, 'one more'))).toBe('APPEND_REFUSED');
    many.appends.rejectAll(new Error('end of the test'));
    large.appends.rejectAll(new Error('end of the test'));
    expect(await outcomes[0]).toBe('TOPIC_UNREACHABLE');
  });
});
