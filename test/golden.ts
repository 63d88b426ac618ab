import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { KINDS_WITH_TLS, KINDS_WITH_TOPIC, SHARED_KINDS, TOPIC_KIND } from '../src/config/schema/topic-kinds.js';
import { STRATEGY_NAMES } from '../src/core/convergence/strategies.js';

/** Compares lines with those of a file. `UPDATE_GOLDEN=1` writes it anew, and its difference is reviewed like code. */
export function expectGolden(file: URL, lines: readonly string[]): void {
  const now = lines.map(withoutNames);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, `${now.join('\n')}\n`);
  else expect(now).toEqual(linesOf(file));
}

export function linesOf(file: URL): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

/** Hides lists: a strategy or a kind of topic that is added changes no message. */
function withoutNames(line: string): string {
  return LISTS.reduce((text, [list, name]) => text.replaceAll(list, `<${name}>`), line);
}

/** The longer before what it contains. */
const LISTS = [
  [STRATEGY_NAMES.join(', '), 'strategies'],
  [TOPIC_KIND.choices.join(', '), 'kinds'],
  [KINDS_WITH_TOPIC, 'kinds with a topic'],
  [SHARED_KINDS, 'shared kinds'],
  [KINDS_WITH_TLS, 'kinds with TLS'],
] as const;
