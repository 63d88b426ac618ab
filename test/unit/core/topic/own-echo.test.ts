import { describe, expect, test } from 'vitest';
import { OwnEcho } from '../../../../src/core/topic/own-echo.js';

describe('own echo', () => {
  test('is as fresh as the newest record read back was when it was sent', () => {
    const echo = new OwnEcho(2);
    expect(Array.from(echo.freshMs)).toEqual([-Infinity, -Infinity]);
    echo.sent(0, 1, 100);
    echo.sent(0, 2, 200);
    echo.sent(1, 3, 300);
    expect(echo.readBack(0, 2, 250)).toBe(50);
    expect(echo.readBack(0, 1, 260)).toBe(160);
    expect(Array.from(echo.freshMs)).toEqual([200, -Infinity]);
  });

  test('what was never sent, or so long ago that it is forgotten, proves nothing', () => {
    const echo = new OwnEcho(1);
    expect(echo.readBack(0, 7, 10)).toBe(-1);
    for (let sequence = 1; sequence <= 65; sequence++) echo.sent(0, sequence, sequence);
    expect(echo.readBack(0, 1, 1000)).toBe(-1);
    expect(echo.readBack(0, 2, 1000)).toBe(998);
    expect(echo.readBack(0, 65, 1000)).toBe(935);
  });

  test('a record of another partition with the same sequence is not an echo', () => {
    const echo = new OwnEcho(2);
    echo.sent(0, 1, 100);
    expect(echo.readBack(1, 1, 200)).toBe(-1);
  });
});
