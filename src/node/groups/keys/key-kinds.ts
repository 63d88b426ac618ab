import { allowedRequestOf } from '../../../config/resolved/max-request.js';
import type { GroupConfig, KeyTemplate, LimitsConfig } from '../../../config/resolved/resolved-config.js';
import { KeyPattern } from '../../../core/account/keys/key-pattern.js';
import { hasClusterBucket } from '../../../core/base/local-gate.js';
import { DIRECTIONS, type Rates } from '../../../core/base/vocabulary.js';
import { hasLevels, hasLimit } from '../../../core/limiter/level-settings.js';
import { isSameValue } from '../same-value.js';

/** What keys of one template, of an override, or with a limit of their own are made of. */
export interface KeyKind {
  /** The pattern of the template. */
  readonly template: string;
  readonly settings: GroupConfig;
  readonly mayWhisper: boolean;
  /** Largest single request, per direction. */
  readonly most: readonly Rates[];
  /** What a limit that comes with a request may be; null = there may be none. */
  readonly allowLimits: KeyTemplate['allowLimits'];
  /** A single key's settings, written by the operator: they stand before limits that come with requests. */
  readonly isOverride: boolean;
  /** The kind that a limit was laid over; −1 for all others. */
  readonly base: number;
}

/**
 * The kinds by number: those of the templates in force, and those of limits that came with requests. A number stays
 * with a kind as long as keys are of it; a kind that is changed gets another number, so that its keys are moved one by
 * one, when they are used (key-book.ts).
 */
export class KeyKinds {
  /** Null = a number that is free. */
  readonly all: (KeyKind | null)[] = [];
  readonly #limits: LimitsConfig;
  readonly #onKind: (number: number, kind: KeyKind) => void;
  /** The most specific first. */
  #patterns: readonly { readonly pattern: KeyPattern; readonly kind: number }[] = [];
  #overrides: ReadonlyMap<string, number> = new Map();
  /** By number. */
  #isCurrent: boolean[] = [];
  /** Template and name → number, of templates and overrides in force. */
  #numbers: ReadonlyMap<string, number> = new Map();
  readonly #rows: number[] = [];
  readonly #free: number[] = [];
  /** Base and limit as text → number. */
  readonly #limited = new Map<string, number>();

  /** @param onKind called for every number that is given, before a key can be of that kind */
  constructor(limits: LimitsConfig, onKind: (number: number, kind: KeyKind) => void) {
    this.#limits = limits;
    this.#onKind = onKind;
  }

  /** Name → number of the kind of every key that has settings of its own. */
  get overrides(): ReadonlyMap<string, number> {
    return this.#overrides;
  }

  get hasTemplates(): boolean {
    return this.#patterns.length > 0;
  }

  /** These templates are in force from now on. Limits that came with requests are forgotten where theirs has changed. */
  use(templates: readonly KeyTemplate[]): void {
    const before = this.#numbers;
    const wasCurrent = this.#isCurrent;
    this.#isCurrent = [];
    const numbers = new Map<string, number>();
    const keep = (template: KeyTemplate, settings: GroupConfig, isOverride: boolean) => {
      const kind = this.#kindOf(template, settings, isOverride);
      const text = `${template.pattern} ${settings.name}`;
      const known = before.get(text);
      const number = known !== undefined && isSameValue(this.all[known], kind) ? known : this.#add(kind);
      this.#isCurrent[number] = true;
      numbers.set(text, number);
      return number;
    };
    const patterns: { pattern: KeyPattern; kind: number }[] = [];
    const overrides: { readonly name: string; readonly template: string; readonly kind: number }[] = [];
    for (const template of templates) {
      // It has been checked.
      const pattern = KeyPattern.of(template.pattern) as KeyPattern;
      patterns.push({ pattern, kind: keep(template, template.group, false) });
      for (const group of template.overrides) {
        overrides.push({ name: group.name, template: template.pattern, kind: keep(template, group, true) });
      }
    }
    this.#numbers = numbers;
    // Nodes that were told of two equally specific ones at the same time choose the same.
    patterns.sort((one, other) => {
      return other.pattern.literals - one.pattern.literals || (one.pattern.text < other.pattern.text ? -1 : 1);
    });
    this.#patterns = patterns;
    const inForce = overrides.filter(({ name, template }) => this.#templateFor(name) === template);
    this.#overrides = new Map(inForce.map(({ name, kind }) => [name, kind]));
    for (const [text, number] of this.#limited) {
      if (this.isCurrent(this.all[number]!.base)) this.#isCurrent[number] = true;
      else this.#limited.delete(text);
    }
    wasCurrent.forEach((was, number) => {
      if (was && !this.isCurrent(number)) this.#freeUnused(number);
    });
  }

  /** −1 where no template has such names. @param text what the name was made of: templates have all of it */
  of(name: string, text: string): number {
    return this.#overrides.get(name) ?? this.#kindByPattern(text);
  }

  /** False where the kind's template or override is another now, or gone. */
  isCurrent(number: number): boolean {
    return this.#isCurrent[number] === true;
  }

  /** The kind that the limit of a kind was laid over; the kind itself where it has none. */
  baseOf(number: number): number {
    const { base } = this.all[number] as KeyKind;
    return base === -1 ? number : base;
  }

  /**
   * The kind of a key of kind `now` with a limit, which `make` makes; null = `max` of such kinds are in use, by other
   * keys.
   */
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

  /** Whether a limit is in use by one key alone, which is about to have another one: then its own makes room. */
  #isLastOf(limited: number): boolean {
    if ((this.all[limited] as KeyKind).base === -1 || this.#rows[limited] !== 1) return false;
    for (const [text, number] of this.#limited) if (number === limited) this.#limited.delete(text);
    this.#isCurrent[limited] = false;
    return true;
  }

  /** A key is of this kind. */
  hold(number: number): void {
    this.#rows[number] = this.#rows[number] + 1;
  }

  /** A key is no longer of this kind. */
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

  #templateFor(name: string): string | undefined {
    return this.all[this.#kindByPattern(name)]?.template;
  }

  #kindOf({ pattern: template, allowLimits }: KeyTemplate, settings: GroupConfig, isOverride: boolean): KeyKind {
    return { template, allowLimits, isOverride, base: -1, ...this.#derived(settings) };
  }

  #derived(settings: GroupConfig): Pick<KeyKind, 'settings' | 'mayWhisper' | 'most'> {
    const most = DIRECTIONS.map((direction) => allowedRequestOf(settings, direction));
    return { settings, mayWhisper: this.mayWhisper(settings), most };
  }

  /**
   * What is spent unheard is a part of the cluster's bucket, the same at every node. So it can say nothing of groups
   * without such a bucket, whose bucket moves, or of which a node may have less; and other limits of the node decide
   * beside it.
   */
  mayWhisper(settings: GroupConfig): boolean {
    const { enabled, ramp, cost, maxShareRatio, weights } = settings;
    const isBucket = enabled && hasClusterBucket(settings) && ramp === null;
    const isEven = maxShareRatio >= 1 && Object.keys(weights).length === 0;
    const isAlone = DIRECTIONS.every((direction, at) => {
      return cost[direction].total === Infinity && !hasLevels(settings, at) && !hasLimit(this.#limits[direction]);
    });
    return isBucket && isEven && isAlone;
  }
}
