import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkLive } from '../../sim/live/check-live.js';
import { runScenario } from '../../sim/run/run-scenario.js';
import { loadScenario } from '../../sim/scenario/load-scenario.js';
import { OWN_SYSTEMS, type System } from '../../sim/systems.js';
import { someOf } from '../property/seed.js';

const FOLDER = fileURLToPath(new URL('../../bench/live/', import.meta.url));
const FILES = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
const MAX_MIN = OWN_SYSTEMS.find(({ name }) => name.endsWith('max-min')) as System;
const ROUND_MS = 70;

test('there are five of them', () => expect(FILES).toHaveLength(5));

/** The comparison with live runs (npm run accuracy:live) means something only where luck does not decide. */
test.each(someOf(FILES))(
  '%s can be played live, and with every seed its median step settles within the same round',
  (file) => {
    const check = checkLive({ topic: 'embedded', brokerKnown: false, requestsPerSecondMax: 2500 });
    const scenario = { ...loadScenario(`${FOLDER}${file}`, check), durationMs: 26_000 };
    const medians = [1, 2, 3].map((seed) => {
      const steps = runScenario(scenario, MAX_MIN, seed).verdict.convergenceMs.slice(1);
      return steps.map((ms) => ms ?? Infinity).sort((one, other) => one - other)[steps.length >> 1];
    });
    console.log(`${file}: median step ${medians.join(', ')} ms`);
    // One report (up to a round and its window) plus one delivery.
    expect(Math.max(...medians)).toBeLessThanOrEqual(150);
    expect(Math.max(...medians) - Math.min(...medians)).toBeLessThanOrEqual(ROUND_MS);
  },
);

const TOKENS_FOLDER = `${FOLDER}tokens/`;

/** The worst 5 s that docs/guide/tokens.md wishes for. */
test.each(someOf(readdirSync(TOKENS_FOLDER).sort()))(
  'tokens/%s can be played live, and exceeds the quota by 2.5 % at most',
  (file) => {
    const scenario = loadScenario(
      `${TOKENS_FOLDER}${file}`,
      checkLive({ topic: 'embedded', brokerKnown: false, requestsPerSecondMax: 2500 }),
    );
    for (const seed of [1, 2]) {
      const { overAdmission, utilisation } = runScenario(scenario, MAX_MIN, seed).verdict;
      console.log(`tokens/${file}: over 5 s ${overAdmission.toFixed(3)}, used ${utilisation.toFixed(3)}`);
      expect(overAdmission).toBeLessThanOrEqual(0.025);
    }
  },
);
