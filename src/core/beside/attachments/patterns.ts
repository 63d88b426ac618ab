/** Names that patterns have captured. */
export type Captured = Record<string, string>;

/**
 * `sensor-{tenant}-*`: `*` is anything, `{name}` at least one character other than /, and at the end of any kind: API
 * keys have slashes. A name that two patterns capture must be the same in both.
 */
export function matchName(pattern: string, name: string, captured: Captured): boolean {
  if (name === '' || name.length > NAME_LENGTH_MAX) return false;
  const groups = expressionOf(pattern).exec(name);
  if (groups === null) return false;
  return Object.entries(groups.groups ?? {}).every(([key, value]) => keep(captured, key, value));
}

/** Segments separated by /; `+` is any segment, `{name}` captures one, `#` at the end is the rest. */
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

/** `{tenant}/{namespace}` with what was captured; null where something is missing. */
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
/** Longer ones match no pattern, so that trying cannot take long. */
const NAME_LENGTH_MAX = 256;
