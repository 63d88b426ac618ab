/** Lets one client subscribe as fast as it may; the connection is held meanwhile. */
export class SubscribeTurn {
  readonly #rules: SubscribeTurnRules;
  #timer: NodeJS.Timeout | null = null;

  constructor(rules: SubscribeTurnRules) {
    this.#rules = rules;
  }

  hasCome(): boolean {
    if (this.#timer !== null) return false;
    const waitMs = this.#rules.waitMs();
    if (waitMs === 0) return true;
    this.#rules.onHeld(true);
    const due = () => {
      this.#timer = null;
      this.#rules.onHeld(false);
    };
    this.#timer = setTimeout(due, Math.min(Math.ceil(waitMs), WAIT_MS_MAX));
    return false;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

export interface SubscribeTurnRules {
  /** Milliseconds until the client may subscribe; 0 = now, and a token is taken. */
  readonly waitMs: () => number;
  /** True = the client waits from now on; false = it may be asked again. */
  readonly onHeld: (isHeld: boolean) => void;
}

/** Long waits are looked at again. */
const WAIT_MS_MAX = 60_000;
