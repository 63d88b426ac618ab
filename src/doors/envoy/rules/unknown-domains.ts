import type { Clock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { EnvoyConfig } from '../../../config/resolved/resolved-config.js';
import type { DescriptorRules } from './descriptor-rules.js';

interface DomainParts {
  readonly rules: DescriptorRules;
  readonly setting: EnvoyConfig['unknownDomain'];
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Decides by the setting about domains that nothing limits. */
export class UnknownDomains {
  readonly #parts: DomainParts;
  #toldMs = -Infinity;

  constructor(parts: DomainParts) {
    this.#parts = parts;
  }

  /** Tests if nothing limits the domain; logs one a minute. */
  isUnknown(domain: string): boolean {
    const { rules, setting, clock, telemetry } = this.#parts;
    if (rules.hasDomain(domain)) return false;
    const nowMs = clock();
    if (nowMs - this.#toldMs >= TOLD_EVERY_MS) {
      this.#toldMs = nowMs;
      const facts = { domain: domain.slice(0, 200), unknownDomain: setting };
      telemetry.log('warn', 'a gateway asks for a domain that nothing limits', facts);
    }
    return true;
  }

  /** Tests if the setting refuses what an unknown domain asks. */
  get areRefused(): boolean {
    return this.#parts.setting === 'refuse';
  }
}

const TOLD_EVERY_MS = 60_000;
