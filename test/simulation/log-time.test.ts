import { expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { heartbeatOf } from '../../src/core/base/settings.js';
import { GROUP, SETTINGS } from './settings.js';

const PARTITIONS = 4;
const DELIVERY_MS = 100;

/** Where nobody asks for anything, beats alone let it go on. */
test.each([1, 3])('log time goes on as fast as the log’s clock on every partition: %i idle node(s)', (count) => {
  const world = new World(11, { ...SETTINGS, partitions: PARTITIONS, groups: [GROUP] });
  for (let node = 0; node < count; node++) world.start(`n${node}`);
  world.runFor(10_000);
  const { logTimes } = world.node('n0').coordinator.log;
  const before = logTimes.map(({ ms, spanMs, pauseMs, appendMs }) => ({ ms, spanMs, pauseMs, appendMs }));
  world.runFor(60_000);
  logTimes.forEach(({ ms, spanMs, pauseMs, appendMs }, partition) => {
    const then = before[partition]!;
    const passedMs = appendMs - then.appendMs;
    expect(ms - then.ms).toBeCloseTo(passedMs, 6);
    expect(spanMs - then.spanMs).toBeCloseTo(passedMs, 6);
    expect(pauseMs).toBe(then.pauseMs);
    expect(passedMs).toBeGreaterThanOrEqual(60_000 - heartbeatOf(world.settings, partition) - DELIVERY_MS);
  });
});
