import { expect, test } from 'vitest';
import { checkLive, type LiveBounds } from '../../../sim/live/check-live.js';
import { parseScenario } from '../../../sim/scenario/load-scenario.js';
import { parseTargetScenario } from '../../../sim/target/load-target-scenario.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { expectGolden, linesOf } from '../../golden.js';

/**
 * Every message about a scenario, word for word, one mistaken scenario a line; `live` = for a live run within these
 * bounds.
 */
const GOLDEN = new URL('./messages.golden.jsonl', import.meta.url);

interface Written {
  readonly kind: 'nodes' | 'backends' | 'live';
  readonly text: string;
  readonly bounds?: LiveBounds;
}

test('messages about scenarios are those that were recorded', () => {
  const recorded = linesOf(GOLDEN);
  expect(recorded.length).toBeGreaterThan(50);
  const now = recorded.map((line) => {
    const { says: _, ...written } = JSON.parse(line) as Written & { readonly says: unknown };
    return JSON.stringify({ ...written, says: saysOf(written) });
  });
  expectGolden(GOLDEN, now);
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
