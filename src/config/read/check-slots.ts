import { kindOf } from '../schema/topic-kinds.js';
import type { Findings } from '../setting/findings.js';
import { type BesideStrict, STRICT_KINDS } from './check-strict.js';
import type { GroupValues } from './read-groups.js';

/** Parts of the configuration that slots cannot stand beside. */
interface BesideSlots extends BesideStrict {
  readonly kafkaQuotas: readonly { readonly group: string }[];
}

/** Refuses concurrency where a request's end is never told. Null = a definition alone, of run time. */
export function checkSlots(groups: GroupValues, findings: Findings, beside: BesideSlots | null): void {
  for (const [name, { concurrency, mode }] of groups) {
    if ((concurrency ?? null) === null) continue;
    const refuse = (problem: string, allowed: string, remedy: string) =>
      findings.add(['groups', name, 'concurrency'], { problem, allowed, remedy });
    if (mode === 'shadow') {
      const problem = 'cannot stand beside mode: shadow, which refuses nothing: slots are counted by the log';
      refuse(problem, 'mode: enforce', 'Remove it, or set mode: enforce.');
    }
    if (beside === null) continue;
    const lacks = beside.topicKind === undefined ? null : kindOf(beside.topicKind).strictLacks;
    if (lacks !== null) {
      const problem = `cannot be kept by a topic of kind ${beside.topicKind}: ${lacks}`;
      refuse(problem, STRICT_KINDS, `Use ${STRICT_KINDS}.`);
    }
    const where = namedBy(name, beside);
    if (where === undefined) continue;
    const problem = `cannot be kept where ${where} name the group: work there never says when it ends`;
    refuse(problem, 'requests that hold a slot', `Take the group out of ${where}, or remove concurrency.`);
  }
}

function namedBy(name: string, { attachments, mqttRules, kafkaQuotas }: BesideSlots): string | undefined {
  const places = {
    attachments: [...Object.values(attachments.scopes), ...attachments.rules],
    'mqtt.rules': mqttRules,
    'kafkaQuotas.entities': kafkaQuotas,
  };
  return Object.entries(places).find(([, rows]) => rows.some(({ group }) => group === name))?.[0];
}
