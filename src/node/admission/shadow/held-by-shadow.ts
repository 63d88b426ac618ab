import type { Hold } from '../../../core/limiter/held-tokens.js';
import type { ShadowHold } from '../../../core/limiter/joint-levels.js';
import type { Levels } from '../../../core/limiter/levels.js';
import type { TokenRequest } from '../../../core/limiter/token-request.js';
import type { ShadowCounts } from './shadow-counts.js';

type Amounts = Readonly<Pick<TokenRequest, 'messages' | 'bytes'>>;

export interface HeldParts {
  readonly levels: Levels;
  readonly debtMs: number;
  /** Counts where the group itself is the shadow, so that all work is done; null = planned. */
  readonly counts: ShadowCounts | null;
}

/** Holds a shadow's grant of work that is settled later: all, a part, or nothing. */
export class HeldByShadow implements ShadowHold {
  /** Request whose amounts the shadow has granted. */
  readonly granted: TokenRequest;
  readonly #parts: HeldParts;
  readonly #holds: readonly Hold[];

  /** @param holds empty = it has granted nothing */
  constructor(parts: HeldParts, granted: TokenRequest, holds: readonly Hold[]) {
    this.#parts = parts;
    this.#holds = holds;
    this.granted = holds.length > 0 ? granted : { ...granted, messages: 0, bytes: 0 };
  }

  /** Settles; a part is charged no more than itself. */
  settle(inForce: Amounts, used: Amounts, nowMs: number): void {
    const { levels, debtMs, counts } = this.#parts;
    const messages = this.#usedOf(used.messages, inForce.messages, this.granted.messages);
    const bytes = this.#usedOf(used.bytes, inForce.bytes, this.granted.bytes);
    const unusedMessages = Math.max(0, this.granted.messages - messages);
    const unusedBytes = Math.max(0, this.granted.bytes - bytes);
    for (const hold of this.#holds) hold.end(unusedMessages, unusedBytes, nowMs);
    if (this.#holds.length > 0) levels.settle(this.granted, messages, bytes, debtMs, nowMs);
    counts?.count(this.granted.lane, 'letPass', used.messages - messages, used.bytes - bytes);
  }

  #usedOf(used: number, inForce: number, granted: number): number {
    if (this.#holds.length === 0) return 0;
    return used >= inForce ? granted + used - inForce : Math.min(used, granted);
  }
}
