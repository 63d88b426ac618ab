import type { ConfigPath, Findings } from '../../src/config/setting/findings.js';
import { readFields, readList } from '../scenario/check-fields.js';
import { checkKnown, type Known, readEntries, readQuotas } from './read-entries.js';
import { CAPACITY_FIELDS, EXPECTED_FIELDS, GIVE_UP_SEC, PHASE_FIELDS } from './target-fields.js';
import type { Phase, TargetExpectation } from './target-scenario.js';

/** Keys of a phase that are lists. */
const PHASE_BESIDES = ['groups', 'backends', 'expect'] as const;

export function readPhases(findings: Findings, input: unknown, known: Known): readonly Phase[] {
  const phases = readList(findings, ['phases'], input, 'phases').map((entry, index) => {
    const at = ['phases', index];
    const { forSeconds, settleWithinSeconds } = readFields(findings, at, entry, PHASE_FIELDS, PHASE_BESIDES);
    const raw = (entry ?? {}) as Readonly<Record<(typeof PHASE_BESIDES)[number], unknown>>;
    const groups = readQuotas(findings, [...at, 'groups'], raw.groups ?? []);
    groups.forEach(({ name }, index) => {
      checkKnown(findings, [...at, 'groups', index, 'name'], name, known.groups);
    });
    const expect = readExpected(findings, [...at, 'expect'], raw.expect ?? [], known);
    const forSec = forSeconds ?? null;
    if (forSec === null && expect.length === 0) addEndless(findings, at);
    const settleWithinSec = Math.min(settleWithinSeconds, forSec ?? GIVE_UP_SEC);
    const backends = readCapacities(findings, [...at, 'backends'], raw.backends ?? [], known);
    return { forSec, settleWithinSec, groups, backends, expect };
  });
  if (phases.length === 0 && Array.isArray(input)) addEndless(findings, ['phases']);
  return phases;
}

function addEndless(findings: Findings, at: ConfigPath): void {
  const allowed = 'forSeconds, or expect';
  findings.add(at, { problem: 'never ends', allowed, remedy: 'Add a phase with forSeconds: 60, or expect something.' });
}

function readCapacities(findings: Findings, path: ConfigPath, input: unknown, known: Known): Phase['backends'] {
  return readEntries(findings, path, input, CAPACITY_FIELDS).map(({ at, values }) => {
    checkKnown(findings, [...at, 'name'], values.name, known.backends);
    return { name: values.name, capacity: values.capacityPerSecond };
  });
}

/** Figures of one group; others are of all. */
const OF_A_GROUP = ['target', 'perClient'];

function readExpected(findings: Findings, path: ConfigPath, input: unknown, known: Known): Phase['expect'] {
  return readEntries(findings, path, input, EXPECTED_FIELDS).map(({ at, values }): TargetExpectation => {
    const group = values.group ?? null;
    if (group !== null) checkKnown(findings, [...at, 'group'], group, known.groups);
    if (typeof values.what === 'string' && OF_A_GROUP.includes(values.what) !== (group !== null)) {
      const allowed = `a group with ${OF_A_GROUP.join(' and ')}, and none with the others`;
      const problem = group === null ? 'is missing' : `does not go with ${values.what}`;
      findings.add([...at, 'group'], { problem, allowed, remedy: group === null ? 'Add group: NAME.' : 'Remove it.' });
    }
    return { what: values.what, group, value: values.value, tolerance: values.within };
  });
}
