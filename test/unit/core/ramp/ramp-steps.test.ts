import { expect, test } from 'vitest';
import type { RampSettings } from '../../../../src/core/ramp/ramp.js';
import { GROUP } from '../../../simulation/settings.js';
import { OneNode } from '../coordinator/one-node.js';

/** 10 messages/s more every second. */
const RAMP = { fromPerSecond: 100, toPerSecond: 1100, overMs: 100_000, timeToLiveMs: 180_000 };
const SLOPE = 10;
/** Log time goes on every 600 ms, so that steps of a second are seen 200, 400, … ms late. */
const HEARTBEAT_MS = 600;

test.each(['relaxed', 'scheduled'] as const)(
  '%s: as steep as the line, however coarse the steps of log time',
  (mode) => {
    const rest = { thresholdRatio: 0.5, coolDownMs: 5000, pausePenaltyRatio: 0.5 };
    const ramp: RampSettings = { ...RAMP, ...rest, mode };
    const node = OneNode.ready({ heartbeatMs: HEARTBEAT_MS, groups: [{ ...GROUP, ramp }] });
    const each = () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1));
    const level = () => node.coordinator.shares.target[0] as number;
    node.run(5000, { each });
    const from = level();
    for (let seconds = 10; seconds <= 60; seconds += 10) {
      node.run(10_000, { each });
      expect(Math.abs(level() - from - SLOPE * seconds)).toBeLessThanOrEqual(1.5 * SLOPE);
    }
  },
);

test('scheduled: every level that is written is the line at that place of the log, not a step of its own', () => {
  const ramp: RampSettings = { ...RAMP, mode: 'scheduled' } as RampSettings;
  const node = OneNode.ready({ heartbeatMs: HEARTBEAT_MS, groups: [{ ...GROUP, ramp }] });
  const each = () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1));
  const offTheLine: number[] = [];
  let beganMs = Number.NaN;
  node.run(60_000, {
    echo: false,
    each: () => {
      each();
      const level = node.sent.map(({ record }) => record).find((record) => record?.kind === 'group-state');
      if (level?.kind === 'group-state') {
        if (Number.isNaN(beganMs)) beganMs = node.logClockMs;
        offTheLine.push(
          level.level - RAMP.fromPerSecond - (SLOPE * (level.readUntilMs || beganMs) - SLOPE * beganMs) / 1000,
        );
        expect(level.lateMs).toBe(0);
      }
      node.echo();
    },
  });
  expect(offTheLine.length).toBeGreaterThan(20);
  for (const off of offTheLine) expect(Math.abs(off)).toBeLessThanOrEqual(1e-6);
});

test('log time is asked to go on while a ramp climbs, and no longer once nobody uses it or it is up', () => {
  const rest = { thresholdRatio: 0.5, coolDownMs: 5000, pausePenaltyRatio: 0.5 };
  const ramp: RampSettings = { ...RAMP, overMs: 10_000, ...rest, mode: 'relaxed' };
  const node = OneNode.ready({ heartbeatMs: HEARTBEAT_MS, groups: [{ ...GROUP, ramp }] });
  const each = () => [...Array(60)].forEach(() => void node.tryAcquire(0, 1));
  /** Records of this node's sign of life within five seconds. */
  const beats = (options: { readonly each?: () => void }) => {
    let count = 0;
    node.run(5000, {
      echo: false,
      each: () => {
        options.each?.();
        count += node.sent.filter(({ record }) => record?.kind === 'node').length;
        node.echo();
      },
    });
    return count;
  };
  node.run(1500, { each });
  // A hundredth of ten seconds is 100 ms, a sign of life otherwise every 600 ms.
  expect(beats({ each })).toBeGreaterThan(5000 / HEARTBEAT_MS + 10);
  node.run(2000);
  expect(beats({})).toBeLessThanOrEqual(5000 / HEARTBEAT_MS + 1);
  node.run(12_000, { each });
  expect(beats({ each })).toBeLessThanOrEqual(5000 / HEARTBEAT_MS + 1);
});
