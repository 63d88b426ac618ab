import { expect, test } from 'vitest';
import { EpochTokens } from '../../../sim/baselines/numaflow/epoch-tokens.js';
import { readVectors } from '../../vectors/read-vectors.js';

interface Step {
  readonly ask?: 'all' | number;
  readonly epochDelta?: number;
  readonly deposit?: number;
  readonly depositBefore?: number;
  readonly pool?: number;
}

interface RampCase {
  readonly id: string;
  readonly group: string;
  readonly mode: { readonly name: string };
  readonly params: { readonly max: number; readonly min: number; readonly rampSec: number; readonly pods: number };
  readonly steps?: readonly Step[];
  readonly startEpoch?: number;
  readonly expectedGrants?: readonly number[];
  readonly shippedGrants?: readonly number[];
}

const GROUPS = ['table', 'single', 'start'];
const MODES = ['relaxed', 'scheduled'];
/** What the baseline does not do, because nothing in our worlds asks for it. */
const GROUPS_ELSEWHERE: Readonly<Record<string, string>> = {
  sample: 'prints the pool, not grants',
  waiting: 'a request with a timeout: the baseline refuses at once',
  resume: 'resumedRampUp is off by default',
  reader: 'read batches are left out in favour of the baseline',
  handback: 'so are tokens handed back',
  parallel: 'one thread',
};
const MODES_ELSEWHERE = ['onlyIfUsed', 'goBackN'];

const { cases } = readVectors<{ readonly cases: readonly RampCase[] }>('numaflow-ramp.json');
const grantCases = cases.filter(({ group, mode }) => GROUPS.includes(group) && MODES.includes(mode.name));
const run = grantCases.filter(({ steps = [] }) => !steps.some((step) => step.deposit || step.depositBefore));

test.each(run)('Numaflow as shipped grants: $id', ({ mode, params, steps = [], startEpoch = 0, ...grants }) => {
  const tokens = new EpochTokens({ ...params, mode: mode.name as 'relaxed' | 'scheduled' });
  let epoch = startEpoch;
  let pool = params.pods;
  const granted = steps.map(({ ask = 'all', epochDelta = 0, pool: changed = pool }) => {
    pool = changed;
    const available = tokens.available(pool, epoch);
    const grant = ask === 'all' ? available : Math.min(available, ask);
    tokens.take(grant, pool);
    epoch += epochDelta;
    return grant;
  });
  expect(granted).toEqual(grants.shippedGrants ?? grants.expectedGrants);
});

test('every kind of case is known', () => {
  for (const { id, group, mode } of cases) {
    expect([...GROUPS, ...Object.keys(GROUPS_ELSEWHERE)], id).toContain(group);
    expect([...MODES, ...MODES_ELSEWHERE], id).toContain(mode.name);
  }
  console.log(`numaflow-ramp.json: ${run.length} of ${cases.length} cases: relaxed and scheduled, nothing handed back`);
  expect(cases).toHaveLength(89);
  expect(run.length).toBeGreaterThanOrEqual(40);
});
