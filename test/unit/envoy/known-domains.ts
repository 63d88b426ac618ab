import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import type { DescriptorRules } from '../../../src/doors/envoy/rules/descriptor-rules.js';
import { UnknownDomains } from '../../../src/doors/envoy/rules/unknown-domains.js';

/** Domains of rules as a door has them, by default with unknown ones allowed. */
export function domainsOf(rules: DescriptorRules, setting: 'allow' | 'refuse' = 'allow'): UnknownDomains {
  return new UnknownDomains({ rules, setting, clock: () => performance.now(), telemetry: silentTelemetry });
}
