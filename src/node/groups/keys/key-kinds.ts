import { allowedRequestOf } from '../../../config/resolved/max-request.js';
import type { GroupConfig, KeyTemplate, LimitsConfig } from '../../../config/resolved/resolved-config.js';
import type { KeyPattern } from '../../../core/account/keys/key-pattern.js';
import { hasClusterBucket } from '../../../core/base/local-gate.js';
import { DIRECTIONS, type Rates } from '../../../core/base/vocabulary.js';
import { hasLevels, hasLimit } from '../../../core/limiter/level-settings.js';
import { isSameValue } from '../least-definition.js';
import { bySpecificity, patternOf } from './settings-of-key.js';

/** Settings of keys of one template, override or limit. */
export interface KeyKind {
  /** The pattern of the template. */
  readonly template: string;
  readonly settings: GroupConfig;
  readonly mayStayUnpublished: boolean;
  /** Largest request per direction. */
  readonly most: readonly Rates[];
  /** Bounds of limits in requests; null = none allowed. */
  readonly allowLimits: KeyTemplate['allowLimits'];
  /** True = the operator's settings of a key: they go before limits in requests. */
  readonly isOverride: boolean;
  /** Kind below a limit; −1 = none. */
  readonly base: number;
}

/**
 * Keeps kinds by number: of templates in force, and of limits in requests. A changed kind gets another number, so that
 * its keys move one by one, when used (key-book.ts).
 */
export class KeyKinds {
  readonly all: (KeyKind | null)[] = [];
  readonly #limits: LimitsConfig;
  readonly #onKind: (number: number, kind: KeyKind) => void;
  /** Most specific first. */
  #patterns: readonly { readonly pattern: KeyPattern; readonly kind: number }[] = [];
  #overrides: ReadonlyMap<string, number> = new Map();
  /** By number. */
  #isCurrent: boolean[] = [];
  /** Template and name → number, in force. */
  #numbers: ReadonlyMap<string, number> = new Map();
  readonly #rows: number[] = [];
  readonly #free: number[] = [];
  /** Base and limit as text → number. */
  readonly #limited = new Map<string, number>();

  /** @param onKind called for every new number: before a key is of that kind */
  constructor(limits: LimitsConfig, onKind: (number: number, kind: KeyKind) => void) {
    this.#limits = limits;
    this.#onKind = onKind;
  }

  /** Name → number of kind, of keys with own settings. */
  get overrides(): ReadonlyMap<string, number> {
    return this.#overrides;
  }

  get hasTemplates(): boolean {
    return this.#patterns.length > 0;
  }

  /** Puts templates in force, and forgets limits over changed ones. */
  use(templates: readonly KeyTemplate[]): void {
    const before = this.#numbers;
    const wasCurrent = this.#isCurrent;
    this.#isCurrent = [];
    const numbers = new Map<string, number>();
    const keep = (template: KeyTemplate, settings: GroupConfig, isOverride: boolean) => {
      const { pattern, allowLimits } = template;
      const kind = { template: pattern, allowLimits, isOverride, base: -1, ...this.#derived(settings) };
      const text = `${pattern} ${settings.name}`;
      const known = before.get(text);
      const number = known !== undefined && isSameValue(this.all[known], kind) ? known : this.#add(kind);
      this.#isCurrent[number] = true;
      numbers.set(text, number);
      return number;
    };
    const patterns: { readonly template: KeyTemplate; readonly pattern: KeyPattern; readonly kind: number }[] = [];
    const overrides: { readonly name: string; readonly template: string; readonly kind: number }[] = [];
    for (const template of templates) {
      patterns.push({ template, pattern: patternOf(template), kind: keep(template, template.group, false) });
      for (const group of template.overrides) {
        overrides.push({ name: group.name, template: template.pattern, kind: keep(template, group, true) });
      }
    }
    this.#numbers = numbers;
    this.#patterns = patterns.sort((one, other) => bySpecificity(one.template, other.template));
    const inForce = overrides.filter(
      ({ name, template }) => this.all[this.#kindByPattern(name)]?.template === template,
    );
    this.#overrides = new Map(inForce.map(({ name, kind }) => [name, kind]));
    for (const [text, number] of this.#limited) {
      if (this.isCurrent(this.all[number]!.base)) this.#isCurrent[number] = true;
      else this.#limited.delete(text);
    }
    wasCurrent.forEach((was, number) => {
      if (was && !this.isCurrent(number)) this.#freeUnused(number);
    });
  }

  /** Returns the kind of a name; −1 = no template. @param text source of the name: templates have all of it */
  of(name: string, text: string): number {
    return this.#overrides.get(name) ?? this.#kindByPattern(text);
  }

  /** Tests if the kind's template or override is still in force. */
  isCurrent(number: number): boolean {
    return this.#isCurrent[number] === true;
  }

  /** Returns the kind below a limit, or the kind itself. */
  baseOf(number: number): number {
    const { base } = this.all[number] as KeyKind;
    return base === -1 ? number : base;
  }

  /** Returns the kind of a `now` key with the limit of `make`. Null = other keys use `max` of them. */
  limited(now: number, limit: string, max: number, make: (settings: GroupConfig) => GroupConfig): number | null {
    const base = this.baseOf(now);
    const text = `${base} ${limit}`;
    const known = this.#limited.get(text);
    if (known !== undefined) return known;
    const kind = this.all[base] as KeyKind;
    const settings = make(kind.settings);
    if (this.#limited.size >= max && !this.#forgetUnusedLimit() && !this.#isLastOf(now)) return null;
    const number = this.#add({ ...kind, ...this.#derived(settings), base });
    this.#isCurrent[number] = true;
    this.#limited.set(text, number);
    return number;
  }

  /** Tests if one key alone uses a limit: its change makes room. */
  #isLastOf(limited: number): boolean {
    if ((this.all[limited] as KeyKind).base === -1 || this.#rows[limited] !== 1) return false;
    for (const [text, number] of this.#limited) if (number === limited) this.#limited.delete(text);
    this.#isCurrent[limited] = false;
    return true;
  }

  hold(number: number): void {
    this.#rows[number] = this.#rows[number] + 1;
  }

  release(number: number): void {
    this.#rows[number] = this.#rows[number] - 1;
    if (!this.isCurrent(number)) this.#freeUnused(number);
  }

  #add(kind: KeyKind): number {
    const number = this.#free.pop() ?? this.all.length;
    this.all[number] = kind;
    this.#rows[number] = 0;
    this.#onKind(number, kind);
    return number;
  }

  #freeUnused(number: number): void {
    if (this.#rows[number] !== 0) return;
    this.all[number] = null;
    this.#free.push(number);
  }

  #forgetUnusedLimit(): boolean {
    for (const [text, number] of this.#limited) {
      if (this.#rows[number] !== 0) continue;
      this.#limited.delete(text);
      this.#isCurrent[number] = false;
      this.#freeUnused(number);
      return true;
    }
    return false;
  }

  #kindByPattern(name: string): number {
    return this.#patterns.find(({ pattern }) => pattern.matches(name))?.kind ?? -1;
  }

  #derived(settings: GroupConfig): Pick<KeyKind, 'settings' | 'mayStayUnpublished' | 'most'> {
    const most = DIRECTIONS.map((direction) => allowedRequestOf(settings, direction));
    return { settings, mayStayUnpublished: this.mayStayUnpublished(settings), most };
  }

  /**
   * Tests if keys may spend unpublished: a part of the cluster's bucket, equal at every node. Excludes groups without
   * such a bucket, with moving or unequal ones, and with other limits of the node.
   */
  mayStayUnpublished(settings: GroupConfig): boolean {
    const { enabled, ramp, cost, maxShareRatio, weights } = settings;
    const isBucket = enabled && hasClusterBucket(settings) && ramp === null;
    const isEven = maxShareRatio >= 1 && Object.keys(weights).length === 0;
    const isAlone = DIRECTIONS.every((direction, at) => {
      return cost[direction].total === Infinity && !hasLevels(settings, at) && !hasLimit(this.#limits[direction]);
    });
    return isBucket && isEven && isAlone;
  }
}
