import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkLive, type LiveBounds } from '../../../sim/live/check-live.js';
import { parseScenario } from '../../../sim/scenario/load-scenario.js';
import { parseTargetScenario } from '../../../sim/target/load-target-scenario.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';

/**
 * Every message about a scenario, word for word, one mistaken scenario a line; `live` = for a live run within these
 * bounds. `UPDATE_GOLDEN=1` rewrites the file, and the difference is reviewed like code.
 */
const GOLDEN = new URL('./messages.golden.jsonl', import.meta.url);

interface Written {
  readonly kind: 'nodes' | 'backends' | 'live';
  readonly text: string;
  readonly bounds?: LiveBounds;
}

test('messages about scenarios are those that were recorded', () => {
  const recorded = readFileSync(GOLDEN, 'utf8').trimEnd().split('\n');
  expect(recorded.length).toBeGreaterThan(50);
  const now = recorded.map((line) => {
    const { says: _, ...written } = JSON.parse(line) as Written & { readonly says: unknown };
    return JSON.stringify({ ...written, says: saysOf(written) });
  });
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(GOLDEN, `${now.join('\n')}\n`);
  expect(now).toEqual(recorded);
});

function saysOf({ kind, text, bounds }: Written): readonly string[] {
  try {
    if (kind === 'backends') parseTargetScenario(text, 'x.yaml');
    else parseScenario(text, 'x.yaml', bounds && checkLive(bounds));
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).report.split('\n');
  }
}
