import { messageOf, QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import { ConfigError, formatMistake } from '../../../config/setting/config-error.js';
import type { RuleOrigin, RuleOrigins } from '../../../node/groups/yaml/rule-origins.js';
import type { CompiledRule } from './compile-rules.js';
import type { DescriptorEntry, DescriptorRules } from './descriptor-rules.js';
import type { LoadedRules } from './load-rules.js';
import { withRules } from './with-rules.js';
import { formatNote } from './written-rules.js';

/** Puts a configuration with rules in force; its `rules` are told to people. */
export interface RulesTarget {
  take(config: ResolvedConfig): void;
  readonly rules: Pick<RuleOrigins, 'take' | 'refuse' | 'serverAway'>;
}

/** Keeps the rules in force: the newest without a mistake, as a whole. */
export class RulesBook implements DescriptorRules {
  /** Offers after the start, by outcome. */
  readonly offers = { taken: 0, refused: 0 };
  readonly #source: string;
  readonly #telemetry: Telemetry;
  #base: ResolvedConfig;
  #loaded: LoadedRules;
  #target: RulesTarget | null = null;
  #refusedBecause: string | null = null;

  /**
   * Begins with rules over a configuration. Throws a ConfigError of RULES_INVALID where they do not fit together.
   *
   * @param source where rules come from, for messages
   */
  constructor(base: ResolvedConfig, source: string, loaded: LoadedRules, telemetry: Telemetry) {
    this.#source = source;
    this.#telemetry = telemetry;
    this.#base = base;
    this.#loaded = loaded;
    withRules(base, loaded.rules, source);
  }

  /** The configuration with the groups and templates of the rules. */
  get config(): ResolvedConfig {
    return withRules(this.#base, this.#loaded.rules, this.#source);
  }

  get status() {
    const { rules, notes } = this.#loaded;
    return {
      source: this.#source,
      domains: rules.domains.size,
      rules: rules.all.length,
      ...this.offers,
      refusedBecause: this.#refusedBecause,
      notes: notes.slice(0, NOTES_SHOWN).map(formatNote),
    };
  }

  hasDomain(domain: string): boolean {
    return this.#loaded.rules.hasDomain(domain);
  }

  find(domain: string, entries: readonly DescriptorEntry[]): CompiledRule | null {
    return this.#loaded.rules.find(domain, entries);
  }

  /** Puts later rules in force at a node, begun with `config`. */
  follow(target: RulesTarget): void {
    this.#target = target;
    target.rules.take((name) => this.#originOf(name));
    this.#log('rules of Envoy in force', this.#loaded);
  }

  /** Puts other rules in force. Throws a ConfigError, and changes nothing, where they do not fit. */
  take(loaded: LoadedRules): void {
    const config = withRules(this.#base, loaded.rules, this.#source);
    // Between the two nothing is decided.
    this.#target?.take(config);
    this.#target?.rules.take((name) => this.#originOf(name));
    this.#loaded = loaded;
    this.offers.taken++;
    this.#refusedBecause = null;
    this.#log('rules of Envoy taken', loaded);
  }

  /** Keeps the rules in force; logs a mistake once. Returns the first. */
  refuse(error: unknown): string {
    this.offers.refused++;
    const reason = error instanceof ConfigError ? firstOf(error) : messageOf(error);
    if (reason === this.#refusedBecause) return reason;
    this.#refusedBecause = reason;
    this.#target?.rules.refuse(reason);
    const mistakes = error instanceof ConfigError ? error.report : undefined;
    const remedy = error instanceof QuotameshError ? error.remedy : undefined;
    const facts = { source: this.#source, reason, mistakes, remedy };
    this.#telemetry.log('error', 'rules of Envoy refused, those in force stay', facts);
    return reason;
  }

  /** Returns another configuration with the rules in force. Throws a ConfigError where they do not fit together. */
  rebased(config: ResolvedConfig): ResolvedConfig {
    const both = withRules(config, this.#loaded.rules, this.#source);
    this.#base = config;
    return both;
  }

  #originOf(name: string): RuleOrigin | null {
    const rule = this.#loaded.rules.byBucket.get(name);
    if (rule === undefined) return null;
    const { at, domain, descriptor } = rule;
    return { place: at, domain, descriptor };
  }

  #log(message: string, { rules, notes }: LoadedRules): void {
    const counts = { domains: rules.domains.size, rules: rules.all.length, notes: notes.length };
    this.#telemetry.log('info', message, { source: this.#source, ...counts });
    for (const note of notes.slice(0, NOTES_SHOWN)) {
      this.#telemetry.log('warn', 'a rule of Envoy does not do all that it says', { note: formatNote(note) });
    }
  }
}

const NOTES_SHOWN = 20;

/** Returns the first mistake, and how many there are beside it. */
function firstOf({ mistakes, message }: ConfigError): string {
  const [first, ...others] = mistakes;
  if (first === undefined) return message;
  return `${formatMistake(first)}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
}
