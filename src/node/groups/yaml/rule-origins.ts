/** Rule that a group or key template was made of. */
export interface RuleOrigin {
  /** File and line, or resource and path: `rules/edge.yaml:12`. */
  readonly place: string;
  readonly domain: string;
  /** Keys and written values of its levels: `user, path=/login`. */
  readonly descriptor: string;
}

/** Finds the rule of a group or pattern; null = none. */
type FindOrigin = (name: string) => RuleOrigin | null;

/** Tells of which rules groups and templates were made. */
export class RuleOrigins {
  #find: FindOrigin = () => null;
  #refused: string | null = null;

  /** Tells why the newest rules were refused; null = they are in force. */
  get refused(): string | null {
    return this.#refused;
  }

  /** Why the server of the rules is away; null = it is not. */
  serverAway: string | null = null;

  take(find: FindOrigin): void {
    this.#find = find;
    this.#refused = null;
  }

  /** Keeps what is in force beside newer rules with a mistake. */
  refuse(reason: string): void {
    this.#refused = reason;
  }

  of(name: string): RuleOrigin | null {
    return this.#find(name);
  }
}
