/**
 * Throws on an impossible state, also in production: a broken share would over-admit silently. Each call tests one
 * fact; the error prints the numbers that broke it.
 */
export function invariant(
  condition: boolean,
  message: string,
  facts?: Readonly<Record<string, unknown>>,
): asserts condition {
  if (!condition) throw new InvariantError(message, facts);
}

export class InvariantError extends Error {
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(message: string, facts: Readonly<Record<string, unknown>> = {}) {
    const printed = Object.entries(facts).map(([name, fact]) => `${name}=${String(fact)}`);
    super(`invariant broken: ${message}${printed.length > 0 ? ` (${printed.join(', ')})` : ''}`);
    this.name = 'InvariantError';
    this.facts = facts;
  }
}
