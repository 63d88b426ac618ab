import { describe, expect, test } from 'vitest';
import { OwnEcho } from '../../../../src/core/log/own-echo.js';

describe('own echo', () => {
  test('is as fresh as the newest record read back was when it was sent', () => {
    const echo = new OwnEcho(2);
    expect(Array.from(echo.freshMs)).toEqual([-Infinity, -Infinity]);
    echo.sent(0, 1, 100);
    echo.sent(0, 2, 200);
    echo.sent(1, 3, 300);
    expect(echo.readBack(0, 1, 250)).toBe(150);
    expect(echo.readBack(0, 2, 260)).toBe(60);
    expect(Array.from(echo.freshMs)).toEqual([200, -Infinity]);
  });

  test('what was never sent, or is older than what came back, proves nothing', () => {
    const echo = new OwnEcho(1);
    expect(echo.readBack(0, 7, 10)).toBe(-1);
    expect(Array.from(echo.freshMs)).toEqual([-Infinity]);
    echo.sent(0, 8, 100);
    echo.sent(0, 9, 200);
    expect(echo.readBack(0, 7, 300)).toBe(-1);
    expect(echo.readBack(0, 9, 300)).toBe(100);
    expect(echo.readBack(0, 8, 300)).toBe(-1);
    expect(Array.from(echo.freshMs)).toEqual([200]);
  });

  test('is awaited since the oldest record was sent that has not come back', () => {
    const echo = new OwnEcho(1);
    expect(echo.awaitedSinceMs(0)).toBe(Infinity);
    echo.sent(0, 1, 100);
    echo.sent(0, 2, 200);
    echo.sent(0, 3, 300);
    expect(echo.awaitedSinceMs(0)).toBe(100);
    echo.readBack(0, 1, 350);
    expect(echo.awaitedSinceMs(0)).toBe(200);
    // The second one was lost.
    echo.readBack(0, 3, 400);
    expect(echo.awaitedSinceMs(0)).toBe(Infinity);
    echo.sent(0, 4, 500);
    expect(echo.awaitedSinceMs(0)).toBe(500);
  });

  test('a record of another partition with the same sequence is not an echo', () => {
    const echo = new OwnEcho(2);
    echo.sent(0, 1, 100);
    expect(echo.readBack(1, 1, 200)).toBe(-1);
  });

  test('every record of a busy node is recognised, however many are in flight', () => {
    const [roundMs, recordsPerRound, roundTripMs] = [20, 100, 8000];
    const echo = new OwnEcho(1);
    const inFlight: { readonly sequence: number; readonly sentMs: number }[] = [];
    let sequence = 0;
    let most = 0;
    for (let nowMs = 0; nowMs < 60_000; nowMs += roundMs) {
      for (let record = 0; record < recordsPerRound; record++) {
        echo.sent(0, ++sequence, nowMs);
        inFlight.push({ sequence, sentMs: nowMs });
      }
      most = Math.max(most, inFlight.length);
      let at = 0;
      for (; (inFlight[at]?.sentMs ?? nowMs) <= nowMs - roundTripMs; at++) {
        if (echo.readBack(0, inFlight[at].sequence, nowMs) !== roundTripMs)
          throw new Error(`not recognised at ${nowMs}`);
      }
      inFlight.splice(0, at);
    }
    expect(most).toBe(40_100);
    expect(Array.from(echo.freshMs)).toEqual([60_000 - roundMs - roundTripMs]);
  });

  test('of the older half of what is remembered an echo proves the moment of its record, or the one before', () => {
    const echo = new OwnEcho(1);
    const roundMs = 50;
    // One more than there is room for.
    for (let sequence = 1; sequence <= 1025; sequence++) echo.sent(0, sequence, sequence * roundMs);
    for (let sequence = 1; sequence <= 1025; sequence++) {
      echo.readBack(0, sequence, 1e6);
      const earlyMs = sequence * roundMs - echo.freshMs[0];
      expect(earlyMs).toBeGreaterThanOrEqual(0);
      expect(earlyMs).toBeLessThanOrEqual(sequence <= 512 ? roundMs : 0);
    }
  });

  test.each([1, 2, 15, 16])('%i partitions have an echo each', (partitions) => {
    const echo = new OwnEcho(partitions);
    const all = [...Array(partitions).keys()];
    for (const partition of all) echo.sent(partition, 1, 100 + partition);
    expect(all.map((partition) => echo.readBack(partition, 1, 200))).toEqual(all.map((partition) => 100 - partition));
    expect(Array.from(echo.freshMs)).toEqual(all.map((partition) => 100 + partition));
  });

  test.each([0, 17])('%i partitions are none that a topic has', (partitions) => {
    expect(() => new OwnEcho(partitions)).toThrow(/1 … 16/);
  });

  test('after an outage of a day no echo proves more than it is, and the newest ones are exact', () => {
    const echo = new OwnEcho(1);
    const beats = 86_400;
    for (let second = 1; second <= beats; second++) echo.sent(0, second, second * 1000);
    for (let second = 1; second <= beats; second++) {
      const tookMs = echo.readBack(0, second, 1e9);
      const earlyMs = second * 1000 - echo.freshMs[0];
      const age = beats - second;
      if (earlyMs < 0) throw new Error(`the echo of ${second} s proved ${-earlyMs} ms too much`);
      if (tookMs !== -1 && tookMs !== 1e9 - second * 1000) throw new Error(`the echo of ${second} s took ${tookMs} ms`);
      if (age < 512 && (tookMs === -1 || earlyMs !== 0)) throw new Error(`the echo of ${second} s is not exact`);
    }
    expect(echo.freshMs[0]).toBe(beats * 1000);
  });
});
