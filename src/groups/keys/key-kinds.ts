import { maxRequestOf } from '../../config/resolved/max-request.js';
import type { GroupConfig, KeysConfig, LimitsConfig } from '../../config/resolved/resolved-config.js';
import { DIRECTIONS, type Rates } from '../../core/base/vocabulary.js';
import { KeyPattern } from '../../core/keys/key-pattern.js';
import { hasLevels, isLimited } from '../../core/limiter/level-settings.js';

/** What keys of one template, or an override, are made of. */
export interface KeyKind {
  /** The pattern of the template. */
  readonly template: string;
  readonly settings: GroupConfig;
  readonly mayWhisper: boolean;
  /** Largest single request, per direction. */
  readonly most: readonly Rates[];
}

/** The templates, the most specific first, and which of them a name belongs to. */
export class KeyKinds {
  readonly all: readonly KeyKind[];
  readonly #patterns: readonly { readonly pattern: KeyPattern; readonly kind: number }[];
  readonly #overrides = new Map<string, number>();

  constructor({ templates }: KeysConfig, limits: LimitsConfig) {
    const all: KeyKind[] = [];
    const patterns: { pattern: KeyPattern; kind: number }[] = [];
    for (const { pattern: text, group, overrides } of templates) {
      // The configuration has been checked.
      patterns.push({ pattern: KeyPattern.of(text) as KeyPattern, kind: all.length });
      all.push(kindOf(text, group, limits));
      for (const override of overrides) all.push(kindOf(text, override, limits));
    }
    patterns.sort((one, other) => other.pattern.literals - one.pattern.literals);
    this.all = all;
    this.#patterns = patterns;
    all.forEach(({ template, settings: { name } }, kind) => {
      if (name !== template && all[this.#kindByPattern(name)]?.template === template) this.#overrides.set(name, kind);
    });
  }

  /** −1 where no template has such names. */
  of(name: string): number {
    return this.#overrides.get(name) ?? this.#kindByPattern(name);
  }

  #kindByPattern(name: string): number {
    return this.#patterns.find(({ pattern }) => pattern.matches(name))?.kind ?? -1;
  }
}

function kindOf(template: string, settings: GroupConfig, limits: LimitsConfig): KeyKind {
  const most = DIRECTIONS.map((direction) => maxRequestOf(settings, direction));
  return { template, settings, mayWhisper: mayWhisper(settings, limits), most };
}

/**
 * What is spent unheard is a part of the cluster's bucket, the same at every node. So it can say nothing of groups
 * without such a bucket, whose bucket moves, or of which a node may have less; and other limits of the node decide
 * beside it.
 */
function mayWhisper(settings: GroupConfig, limits: LimitsConfig): boolean {
  const { sharing, limiter, enabled, ramp, cost, maxShareRatio, weights } = settings;
  const isBucket = enabled && sharing === 'tokens' && limiter === 'bucket' && ramp === null;
  const isEven = maxShareRatio >= 1 && Object.keys(weights).length === 0;
  const isAlone = DIRECTIONS.every((direction, at) => {
    return cost[direction].total === Infinity && !hasLevels(settings, at) && !isLimited(limits[direction]);
  });
  return isBucket && isEven && isAlone;
}
