import { afterEach, expect, test, vi } from 'vitest';
import { DemoEnding, demoExitCode } from '../../../src/tools/demo/demonstration.js';

afterEach(() => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  vi.useRealTimers();
});

test.each([
  ['kept promises', { kind: 'time-over' }, { endless: false, kept: true }, 0],
  ['broken promises', { kind: 'time-over' }, { endless: false, kept: false }, 1],
  [
    'Ctrl-C, the ordinary end of an endless one',
    { kind: 'signal', signal: 'SIGINT' },
    { endless: true, kept: false },
    0,
  ],
  ['Ctrl-C before the verdict', { kind: 'signal', signal: 'SIGINT' }, { endless: false, kept: true }, 130],
  ['all nodes dead', { kind: 'failed', why: 'all nodes have ended' }, { endless: true, kept: true }, 1],
] as const)('exit code: %s', (_, reason, options, code) => {
  expect(demoExitCode(reason, options)).toBe(code);
});

test('the first reason counts', async () => {
  const ending = new DemoEnding(() => undefined);
  ending.reach({ kind: 'time-over' });
  ending.reach({ kind: 'failed', why: 'late' });
  expect(await ending.reached).toEqual({ kind: 'time-over' });
});

test('a second Ctrl-C at once is the same one, a later one is impatience', () => {
  vi.useFakeTimers();
  const impatient = vi.fn();
  const ending = new DemoEnding(impatient);
  process.emit('SIGINT', 'SIGINT');
  process.emit('SIGINT', 'SIGINT');
  expect(ending.reason).toEqual({ kind: 'signal', signal: 'SIGINT' });
  expect(impatient).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1500);
  process.emit('SIGINT', 'SIGINT');
  expect(impatient).toHaveBeenCalledOnce();
});
