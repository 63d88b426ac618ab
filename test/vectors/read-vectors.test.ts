import { expect, test } from 'vitest';
import { rejectUnknown } from './read-vectors.js';

const RAMP = { id: 'one', group: 'resume', mode: { name: 'relaxed' }, params: { max: 5, min: 1, rampSec: 1 } };

test.each([
  ['a member of a case', 'numaflow-ramp.json', { ...RAMP, mood: 1 }, 'one: mood'],
  ['a member within', 'numaflow-ramp.json', { ...RAMP, params: { ...RAMP.params, per: 2 } }, 'one: params.per'],
  [
    'a member that another operation has',
    'numaflow-ramp.json',
    {
      ...RAMP,
      events: [
        { op: 'wait', sec: 1 },
        { op: 'stop', pods: [], epoch: 3 },
      ],
    },
    'one: events[1].epoch of op "stop"',
  ],
  ['an operation', 'numaflow-ramp.json', { ...RAMP, events: [{ op: 'sleep' }] }, 'one: events[0].op "sleep"'],
  ['a group', 'numaflow-ramp.json', { ...RAMP, group: 'sleeping' }, 'one: group "sleeping"'],
  [
    'a step within steps',
    'token-bucket.json',
    { id: 'two', kind: 'bucket', steps: [{ op: 'repeat', times: 2, steps: [{ op: 'consume', tokens: 1, units: 2 }] }] },
    'two: steps[0].steps[0].units of op "consume"',
  ],
])('%s that no runner knows is rejected by its path', (_, file, one, path) => {
  expect(() => rejectUnknown(file, one)).toThrow(`${file}: ${path} is not known to the runner`);
});

test('names that a case chooses itself, what explains, and steps after each n-th turn are known', () => {
  const repeat = { op: 'repeat', times: 4, steps: [], everyNth: { n: 2, steps: [{ op: 'expectTokens', value: 1 }] } };
  rejectUnknown('token-bucket.json', { id: 'a', kind: 'bucket', ...{ note: 'x', steps: [repeat] } });
  rejectUnknown('fdb-gtt.json', { id: 'b', kind: 'proxyLimiter', ...{ ratesTps: { Z: 1 }, idleBeforeSec: 9 } });
});
