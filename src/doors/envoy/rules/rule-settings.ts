import { buildGroup } from '../../../config/read/build-config.js';
import type { GroupConfig } from '../../../config/resolved/resolved-config.js';
import { GROUP, type GroupSection } from '../../../config/schema/groups.js';
import { SHORT_UNIT, TIME_UNITS, type TimeUnit } from '../../../config/setting/quantity.js';

/** The limit of a rule, in its own unit. */
export interface RuleRate {
  readonly requestsPerUnit: number;
  readonly unit: TimeUnit;
  readonly isShadow: boolean;
}

/** Reads a unit in any case; null = there is no such one. */
export function unitOf(text: string): TimeUnit | null {
  const unit = text.toLowerCase();
  return TIME_UNITS.find((known) => known === unit) ?? null;
}

/** Writes the rate as YAML of a group has it: `5/d`, `500/s`. */
export function shownRuleRate({ requestsPerUnit, unit }: RuleRate): string {
  return `${requestsPerUnit}/${SHORT_UNIT[unit]}`;
}

/**
 * Makes the settings of rules: the quota of messages, and a burst of all that the unit has. *Why:* after a rest
 * ratelimit admits all of a unit at once, and clients rely on it.
 */
export class RuleSettings {
  /** Rate → its section: a thousand rules have few different ones. */
  readonly #known = new Map<string, GroupSection>();

  groupOf(name: string, rate: RuleRate): GroupConfig {
    const { requestsPerUnit, isShadow } = rate;
    const text = `${shownRuleRate(rate)} ${isShadow}`;
    let section = this.#known.get(text);
    if (section === undefined) {
      section = GROUP.parse({
        quota: { publish: { messagesPerSecond: shownRuleRate(rate) } },
        ...(requestsPerUnit > 0 && { burst: { messages: requestsPerUnit } }),
        mode: isShadow ? 'shadow' : 'enforce',
      });
      this.#known.set(text, section);
    }
    return buildGroup(name, section);
  }
}
