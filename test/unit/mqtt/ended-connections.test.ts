import { expect, test } from 'vitest';
import { EndedConnections } from '../../../src/doors/mqtt/mqtt-broker.js';
import { createMqttCounts } from '../../../src/doors/mqtt/mqtt-counts.js';

test('whatever a client can do over and over is counted each time, and a warning once a minute', () => {
  const counts = createMqttCounts();
  const lines: [string, unknown][] = [];
  let nowMs = 0;
  const log = (level: string, _: string, facts: unknown) => lines.push([level, facts]);
  const ended = new EndedConnections(counts, { log }, () => nowMs);
  for (nowMs = 0; nowMs < 120_000; nowMs += 1000) ended.ended('too-many-filters', 'greedy');
  expect(counts.disconnects['too-many-filters']).toBe(120);
  const warnings = lines.filter(([level]) => level === 'warn');
  expect(warnings.map(([, facts]) => facts)).toEqual(
    Array.from({ length: 2 }, () => ({
      client: 'greedy',
      reason: 'too-many-filters',
      bound: 'mqtt.maxFiltersPerPacket',
    })),
  );
  ended.ended('not-reading', 'one');
  ended.ended('not-reading', 'two');
  expect(lines.slice(-2).map(([level]) => level)).toEqual(['warn', 'warn']);
  ended.ended('connection-lost', 'one');
  expect(lines.at(-1)?.[0]).toBe('debug');
});
