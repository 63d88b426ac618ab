import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping } from '../../../base/input/mapping.js';
import { buildTemplate } from '../../../config/read/build-config.js';
import { examineGroup } from '../../../config/read/group-definition.js';
import { readKeys } from '../../../config/read/read-keys.js';
import { withUnitsBehindAmounts } from '../../../config/read/units-in-keys.js';
import type { AllowedLimits, GroupConfig, KeyTemplate } from '../../../config/resolved/resolved-config.js';
import { mistakesText } from '../../../config/setting/config-error.js';
import { Findings } from '../../../config/setting/findings.js';
import { GROUP_NAME } from '../../../config/setting/setting.js';
import { KeyPattern } from '../../../core/account/keys/key-pattern.js';
import { DIRECTIONS } from '../../../core/base/vocabulary.js';
import { leastDefinition } from '../least-definition.js';

/** Examines a template as below `keys.<pattern>` in YAML; `defaults` do not count. With mistakes there is none. */
export function examineTemplate(pattern: string, written: unknown, source: string) {
  const findings = new Findings(source);
  const parsed = KeyPattern.of(pattern);
  if (typeof parsed === 'string') {
    const allowed = 'a pattern of letters, digits and . _ : / @ + ~ - with at least one field like {id}';
    findings.add(['keys', pattern.slice(0, 200)], { problem: parsed, allowed, remedy: 'For example "key:{id}".' });
    return { template: null, mistakes: findings.mistakes };
  }
  const root = withUnitsBehindAmounts({ keys: { [pattern]: written } }, findings);
  const [read] = readKeys(root, findings, false).templates;
  if (findings.mistakes.length > 0 || read === undefined) return { template: null, mistakes: findings.mistakes };
  return { template: buildTemplate(read), mistakes: [] };
}

/** Examines a key's own settings, laid over its template's. */
export function examineOverride(template: KeyTemplate, name: string, written: unknown, source: string) {
  // A key may have a name that no group has.
  const shown = GROUP_NAME.matches.test(name) ? name : 'key';
  const { config, mistakes } = examineGroup(shown, written ?? {}, source, leastDefinition(template.group));
  return { config: config === null ? null : { ...config, name }, mistakes };
}

/**
 * Lays a request's limit over settings. Throws LIMIT_INVALID, and LIMIT_DENIED where a rate is above the highest
 * allowed, or none is.
 */
export function withLimit(
  settings: GroupConfig,
  limit: unknown,
  highest: AllowedLimits['quota'],
  key: string,
): GroupConfig {
  if (!isMapping(limit) || Object.keys(limit).length === 0) {
    const details = `must be like { publish: { messagesPerSecond: 600/min } }, got ${showSent(limit)}.`;
    throw new QuotameshError('LIMIT_INVALID', { key, details });
  }
  const written = { quota: limit };
  const { config, mistakes } = examineGroup('limit', written, 'request', leastDefinition(settings), ['limit']);
  if (config === null) throw new QuotameshError('LIMIT_INVALID', { key, details: mistakesText(mistakes) });
  for (const direction of DIRECTIONS) {
    ['messages', 'bytes'].forEach((unit, at) => {
      const rate = config.quota[direction][at];
      if (rate === settings.quota[direction][at]) return;
      const most = highest[direction][at];
      if (most !== Infinity && rate <= most) return;
      const bound = most === Infinity ? 'none is allowed' : `at most ${most} per second are allowed`;
      throw new QuotameshError('LIMIT_DENIED', { key, reason: `${unit} of ${direction}: ${bound}` });
    });
    const { total } = config.cost[direction];
    if (total !== settings.cost[direction].total)
      throw new QuotameshError('LIMIT_DENIED', { key, reason: `cost of ${direction}: none is allowed` });
  }
  return { ...config, name: settings.name };
}
