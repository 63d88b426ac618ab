import { BUDGET_UNITS, countOf } from '../../core/strict/budget-units.js';
import { type GroupSection, WARN_AT } from '../schema/groups.js';
import type { Findings } from '../setting/findings.js';
import type { Sound } from '../setting/text-file.js';
import { type BesideStrict, hasBudget, namedBy, type Refuse, refuseTopicKind } from './check-strict.js';
import type { GroupValues } from './read-groups.js';
import type { TemplateRead } from './read-keys.js';

type BesideBudgets = Pick<BesideStrict, 'topicKind' | 'attachments' | 'mqttRules'>;

/** Refuses budgets that cannot be kept. Null = a definition alone, of run time. */
export function checkBudgets(groups: GroupValues, findings: Findings, beside: BesideBudgets | null): void {
  for (const [name, values] of groups) {
    const { budget, mode } = values;
    checkZone(name, budget?.timezone, findings);
    const refuse = (problem: string, allowed: string, remedy: string) =>
      findings.add(['groups', name, 'budget'], { problem, allowed, remedy });
    // Undefined = a mistake that is told already.
    const units = BUDGET_UNITS.filter((unit) => budget?.[unit] !== null);
    if (hasBudget(values) && units.length > 1)
      refuse(`names more than one unit: ${units.join(', ')}`, UNITS, 'Keep one of them.');
    checkCents(name, budget?.cents ?? null, findings);
    const isCarried = carries(values);
    const isTold = warns(values);
    const isDated =
      budget?.per !== undefined && (budget.per !== 'month' || budget.timezone !== 'UTC' || isCarried || isTold);
    if (hasBudget(values) && budget?.per === 'total' && isCarried)
      refuse('carries from a total, which never ends', 'per: day, week, month or year', 'Remove carry.');
    if (units.length === 0 && isDated)
      refuse('names no unit', UNITS, 'Write budget: { messages: 1000000, per: month }.');
    if (!hasBudget(values)) continue;
    if (mode === 'shadow') {
      const problem = 'cannot stand beside mode: shadow, which refuses nothing: a budget is counted by the log';
      refuse(problem, 'mode: enforce', 'Remove it, or set mode: enforce.');
    }
    if (beside !== null) checkBeside((group) => group === name, beside, refuse);
  }
}

/** Refuses them for groups and for templates of keys. */
export function checkAllBudgets(
  groups: GroupValues,
  templates: readonly TemplateRead[],
  findings: Findings,
  beside: BesideBudgets,
): void {
  checkBudgets(groups, findings, beside);
  for (const { pattern, settings, overrides } of templates) {
    if (![settings, ...overrides.values()].some(hasBudget)) continue;
    const refuse: Refuse = (problem, allowed, remedy) =>
      findings.add(['keys', pattern.text, 'budget'], { problem, allowed, remedy });
    if ([settings, ...overrides.values()].some(carries))
      refuse('carries what a key leaves: the log forgets keys at rest', 'budgets of groups', 'Remove carry.');
    if ([settings, ...overrides.values()].some(warns))
      refuse(
        'names thresholds (warnAt), which keys do not tell: a stranger makes them',
        'budgets of groups',
        'Remove warnAt.',
      );
    checkBeside((group) => pattern.matches(group), beside, refuse);
  }
}

function warns({ budget }: Pick<Sound<GroupSection>, 'budget'>): boolean {
  return budget?.warnAt !== undefined && budget.warnAt.join() !== WARN_AT.join();
}

const UNITS = BUDGET_UNITS.join(', ');

/** Refuses cents that the log could not count. */
function checkCents(name: string, cents: number | null, findings: Findings): void {
  if (cents === null || !Number.isNaN(countOf('cents', cents))) return;
  const problem = `is ${cents}: the log counts whole millionths of a cent`;
  const remedy = 'Round it to six decimals.';
  findings.add(['groups', name, 'budget', 'cents'], { problem, allowed: 'at most six decimals', remedy });
}

function carries({ budget }: Pick<Sound<GroupSection>, 'budget'>): boolean {
  return (budget?.carry ?? 0) > 0;
}

function checkZone(name: string, timezone: string | undefined, findings: Findings): void {
  // The default: to look it up takes 5 ms of each start.
  if (timezone === undefined || timezone === 'UTC') return;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    const problem = `names a zone that does not exist: ${timezone}`;
    const remedy = 'Write it as the IANA database does: Europe/Berlin, America/New_York, UTC.';
    findings.add(['groups', name, 'budget', 'timezone'], { problem, allowed: 'an IANA time zone', remedy });
  }
}

function checkBeside(isNamed: (group: string) => boolean, beside: BesideBudgets, refuse: Refuse): void {
  refuseTopicKind(beside.topicKind, refuse);
  const where = namedBy(isNamed, beside);
  if (where === undefined) return;
  const problem = `cannot be kept where ${where} name the group: several groups may decide there`;
  refuse(problem, 'requests that name the group', `Take it out of ${where}, or remove the budget.`);
}
