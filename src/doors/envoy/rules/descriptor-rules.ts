import type { RuleMetadata } from './rule-metadata.js';

/** One entry of a descriptor; its value may be empty. */
export interface DescriptorEntry {
  readonly key: string;
  readonly value: string;
}

/** Finds what limits a descriptor. Called per descriptor and request: it must not allocate more than a name. */
export interface DescriptorRules {
  /** Tests for a known domain; `envoy.unknownDomain` decides about the others. */
  hasDomain(domain: string): boolean;
  /** Finds the rule of a descriptor; null = nothing limits it. */
  find(domain: string, entries: readonly DescriptorEntry[]): DescriptorRule | null;
}

export interface DescriptorRule {
  /** Path of the rule for people, in *Why*, status and metrics: `edge: user, path=/login`. */
  readonly name: string;
  /** File and line, or resource and path; '' = it is no rule of a file or server. */
  readonly at: string;
  /** Names the group or key that such a descriptor is charged to. */
  bucketOf(domain: string, entries: readonly DescriptorEntry[]): string;
  /** True = never refused and not counted. */
  readonly isUnlimited: boolean;
  /** True = the request is refused where all such descriptors are. */
  readonly isQuota: boolean;
  /** Name by which other rules replace this one (`rate_limit.name`); '' = none. */
  readonly label: string;
  /** Comes back in answers where the rule has let its descriptor pass; null = none. */
  readonly metadata: RuleMetadata | null;
  /** Labels of rules that do not count where this one does. */
  readonly replaces: readonly string[];
}
