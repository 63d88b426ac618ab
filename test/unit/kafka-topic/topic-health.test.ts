import { expect, it } from 'vitest';
import type { TopicCounters } from '../../../src/base/ports/report-topic.js';
import { GuardedListener } from '../../../src/topic/remote/guarded-listener.js';
import { TopicHealth } from '../../../src/topic/remote/topic-health.js';
import { RecordingListener } from '../../conformance/recording-listener.js';

function make() {
  const listener = new RecordingListener();
  const counters = { reconnects: 0 } as TopicCounters;
  const logged: string[] = [];
  const log = (level: string, message: string) => logged.push(`${level}: ${message}`);
  const guarded = new GuardedListener(listener, { counters, log });
  const health = new TopicHealth({ store: 'Kafka', topic: 'topic', log, counters, listener: guarded });
  return { listener, counters, logged, guarded, health };
}

it('tells a loss once, and recovery when every partition is read again', () => {
  const { health, listener, counters, logged } = make();
  health.unreachable('connection refused');
  health.unreachable('connection refused again');
  health.partitionsKnown(2);
  health.reading(0);
  expect(listener.recovered).toBe(0);
  health.reading(1);
  expect(listener).toMatchObject({ lost: ['connection refused'], recovered: 1 });
  health.disconnected([1], 'closed');
  health.reading(0);
  expect(listener).toMatchObject({ lost: ['connection refused', 'closed'], recovered: 1 });
  health.reading(1);
  expect(listener.recovered).toBe(2);
  expect(counters.reconnects).toBe(2);
  expect(logged).toEqual([
    'warn: Kafka topic lost: connection refused',
    'info: Kafka topic works again',
    'warn: Kafka topic lost: closed',
    'info: Kafka topic works again',
  ]);
});

it('tells the reason that holds now, and logs the first one alone', () => {
  const { health, listener, logged } = make();
  health.partitionsKnown(1);
  const reasons = ['connection refused', 'connection refused', 'the topic does not exist', 'not allowed'].map((why) => {
    health.unreachable(why);
    return listener.lostBecause;
  });
  expect(reasons).toEqual(['connection refused', 'connection refused', 'the topic does not exist', 'not allowed']);
  expect([listener.lost, logged]).toEqual([['connection refused'], ['warn: Kafka topic lost: connection refused']]);
  health.reading(0);
  expect([listener.lostBecause, listener.recovered]).toEqual([null, 1]);
});

it('is lost while appends are refused, until one is taken', () => {
  const { health, listener } = make();
  health.partitionsKnown(1);
  health.reading(0);
  health.appendRefused('NOT_ENOUGH_REPLICAS');
  health.reading(0);
  expect(listener).toMatchObject({ lost: ['NOT_ENOUGH_REPLICAS'], recovered: 0 });
  health.appended();
  expect(listener.recovered).toBe(1);
});

it('does not wait for an append after a new connection', () => {
  const { health, listener } = make();
  health.partitionsKnown(1);
  health.reading(0);
  health.appendRefused('NOT_ENOUGH_REPLICAS');
  health.disconnected([0], 'closed');
  health.reading(0);
  expect(listener).toMatchObject({ lost: ['NOT_ENOUGH_REPLICAS'], recovered: 1 });
});

it('a listener that throws is logged and called again; none is called after the end', () => {
  const { guarded, listener, logged } = make();
  listener.onRecords = () => {
    throw new Error('defect');
  };
  guarded.onRecords([]);
  guarded.onCaughtUp();
  guarded.onCaughtUp();
  expect(logged).toEqual(['error: a listener of the topic threw in onRecords']);
  expect(listener.caughtUpAfter).toHaveLength(1);
  guarded.end();
  guarded.onLost('late');
  guarded.onRecovered();
  guarded.onFailed(new Error('late'));
  expect(listener.calls).toBe(1);
});
