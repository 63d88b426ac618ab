import type { Findings } from '../setting/findings.js';
import { type BesideStrict, namedBy, type Refuse, refuseTopicKind } from './check-strict.js';
import type { GroupValues } from './read-groups.js';
import type { TemplateRead } from './read-keys.js';

/** Parts of the configuration that slots cannot stand beside. */
interface BesideSlots extends BesideStrict {
  readonly kafkaQuotas: readonly { readonly group: string }[];
}

/** Refuses concurrency where a request's end is never told. Null = a definition alone, of run time. */
export function checkSlots(groups: GroupValues, findings: Findings, beside: BesideSlots | null): void {
  for (const [name, { concurrency, mode }] of groups) {
    if ((concurrency ?? null) === null) continue;
    const refuse: Refuse = (problem, allowed, remedy) =>
      findings.add(['groups', name, 'concurrency'], { problem, allowed, remedy });
    if (mode === 'shadow') {
      const problem = 'cannot stand beside mode: shadow, which refuses nothing: slots are counted by the log';
      refuse(problem, 'mode: enforce', 'Remove it, or set mode: enforce.');
    }
    if (beside !== null) checkBeside(refuse, (group) => group === name, beside);
  }
}

/** Refuses it for groups and for templates of keys. */
export function checkAllSlots(
  groups: GroupValues,
  templates: readonly TemplateRead[],
  findings: Findings,
  beside: BesideSlots,
): void {
  checkSlots(groups, findings, beside);
  for (const { pattern, settings, overrides } of templates) {
    if ([settings, ...overrides.values()].every(({ concurrency }) => (concurrency ?? null) === null)) continue;
    const refuse: Refuse = (problem, allowed, remedy) =>
      findings.add(['keys', pattern.text, 'concurrency'], { problem, allowed, remedy });
    checkBeside(refuse, (group) => pattern.matches(group), beside);
  }
}

function checkBeside(refuse: Refuse, isNamed: (group: string) => boolean, beside: BesideSlots): void {
  refuseTopicKind(beside.topicKind, refuse);
  const where = namedBy(isNamed, beside);
  if (where === undefined) return;
  const problem = `cannot be kept where ${where} name the group: work there never says when it ends`;
  refuse(problem, 'requests that hold a slot', `Take the group out of ${where}, or remove concurrency.`);
}
