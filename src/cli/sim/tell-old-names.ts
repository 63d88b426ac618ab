import type { Scenario } from '../../../sim/scenario/scenario.js';
import { oldNameLine } from '../../terminal/old-name-line.js';

/** Prints each former name in the file of a scenario once, where it was met first; results go to the other stream. */
export function tellOldNames({ oldNames }: Scenario): void {
  for (const name of oldNames) process.stderr.write(`${oldNameLine(name)}\n`);
}
