import type { KeyTemplate } from '../../../config/resolved/resolved-config.js';
import { KeyPattern } from '../../../core/account/keys/key-pattern.js';

/** Pattern, and the settings behind it. */
type Template<Group> = Pick<KeyTemplate, 'pattern'> & {
  readonly group: Group;
  readonly overrides: readonly Group[];
};

/** Returns the settings of a key, whose name may be the pattern; null = no template. */
export function settingsOfKey<Group extends { readonly name: string }>(
  templates: readonly Template<Group>[],
  name: string,
): Group | null {
  const template = mostSpecific(templates, name);
  return template?.overrides.find((own) => own.name === name) ?? template?.group ?? null;
}

/** Finds the matching template with most literal characters. */
export function mostSpecific<Each extends Pick<KeyTemplate, 'pattern'>>(
  templates: readonly Each[],
  name: string,
): Each | null {
  const matching = templates.filter((template) => patternOf(template).matches(name));
  return matching.sort(bySpecificity)[0] ?? null;
}

/** Sorts the most specific first. Nodes with two equally specific ones choose the same. */
export function bySpecificity(one: Pick<KeyTemplate, 'pattern'>, other: Pick<KeyTemplate, 'pattern'>): number {
  return patternOf(other).literals - patternOf(one).literals || (one.pattern < other.pattern ? -1 : 1);
}

export function patternOf(template: Pick<KeyTemplate, 'pattern'>): KeyPattern {
  const known = PATTERNS.get(template);
  if (known !== undefined) return known;
  // It has been checked.
  const made = KeyPattern.of(template.pattern) as KeyPattern;
  PATTERNS.set(template, made);
  return made;
}

/** By template and not by text: templates may come and go for years. */
const PATTERNS = new WeakMap<Pick<KeyTemplate, 'pattern'>, KeyPattern>();
