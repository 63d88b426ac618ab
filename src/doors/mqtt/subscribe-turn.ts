/** Paces a client's subscriptions; the connection is held meanwhile. */
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
  /** Takes a token: returns milliseconds until the client may subscribe, 0 = taken. */
  readonly waitMs: () => number;
  /** Called with true when the client begins to wait, with false when it may try again. */
  readonly onHeld: (isHeld: boolean) => void;
}

/** Milliseconds after which a long wait is looked at again. */
const WAIT_MS_MAX = 60_000;
