/**
 * A word of the configuration that has a better name now. The old word keeps working in files, variables and scenarios.
 * Whoever uses it is told the new one, and documents have only the new one.
 */
export interface Alias {
  /** The section that it stands in; `defaults` stands for every group, too. */
  readonly section: 'timing' | 'attachments' | 'defaults';
  /** The key whose value it is; absent where the key itself is meant. */
  readonly ofKey?: string;
  readonly old: string;
  readonly now: string;
}

export const ALIASES: readonly Alias[] = [
  { section: 'timing', old: 'fastWindowMs', now: 'fastSpanMs' },
  { section: 'timing', old: 'slowWindowMs', now: 'slowSpanMs' },
  { section: 'attachments', old: 'places', now: 'scopes' },
  { section: 'defaults', ofKey: 'dropped', old: 'handed-back', now: 'refunded' },
];

/** Former names of the keys right below a section; `path` is that of the section. */
export function oldKeysBelow(path: string): readonly Alias[] {
  return ALIASES.filter(({ section, ofKey }) => ofKey === undefined && section === path);
}

/** Former names of the values of a key. */
export function oldValuesOf(path: string, key: string): readonly Alias[] {
  return ALIASES.filter(({ section, ofKey }) => ofKey === key && section === path);
}
