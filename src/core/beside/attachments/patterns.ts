import { PATTERN_NAME_MAX } from '../constants.js';

/** Names that patterns have captured. */
export type Captured = Record<string, string>;

/**
 * Matches a name with `sensor-{tenant}-*`. `*` is anything, `{name}` at least one character but /, at the end any. A
 * name captured twice must be equal.
 */
export function matchName(pattern: string, name: string, captured: Captured): boolean {
  if (name === '' || name.length > PATTERN_NAME_MAX) return false;
  const groups = expressionOf(pattern).exec(name);
  if (groups === null) return false;
  return Object.entries(groups.groups ?? {}).every(([key, value]) => keep(captured, key, value));
}

/** Matches segments: `+` is any, `{name}` captures one, a last `#` is the rest. */
export function matchTopic(pattern: string, topic: string, captured: Captured): boolean {
  const wanted = pattern.split('/');
  const segments = topic.split('/', wanted.length + 1);
  for (let at = 0; at < wanted.length; at++) {
    const segment = wanted[at];
    if (segment === '#') return true;
    const given = segments[at];
    if (given === undefined) return false;
    const name = CAPTURE.exec(segment)?.[1];
    if (name === undefined ? segment !== '+' && segment !== given : given === '' || !keep(captured, name, given))
      return false;
  }
  return segments.length === wanted.length;
}

/** Fills `{tenant}/{namespace}` with captured names; null = one is missing. */
export function fill(template: string, captured: Captured): string | null {
  let complete = true;
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = captured[name];
    if (value === undefined) complete = false;
    return value ?? '';
  });
  return complete ? filled : null;
}

function keep(captured: Captured, key: string, value: string): boolean {
  if (captured[key] !== undefined) return captured[key] === value;
  captured[key] = value;
  return true;
}

const expressions = new Map<string, RegExp>();

function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  const source = pattern
    .replaceAll(/[.+?^$()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replace(/\{(\w+)\}$/, '(?<$1>.+)')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const expression = new RegExp(`^${source}$`, 's');
  expressions.set(pattern, expression);
  return expression;
}

const CAPTURE = /^\{(\w+)\}$/;
