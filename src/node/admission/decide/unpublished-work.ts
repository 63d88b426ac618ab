import type { Clock } from '../../../base/ports/clock.js';
import type { UnpublishedHold } from '../../../core/account/keys/unpublished-holds.js';
import { BYTES, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import { UNCONFIRMED } from '../../../core/limiter/limiter.js';
import {
  type AcquireOptions,
  type Amounts,
  type Decision,
  GRANTED_DECISION,
  type NotReady,
  type Origin,
  type Where,
} from '../../api/decision.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { AskedAmounts, KeyBook } from '../../groups/keys/key-book.js';
import type { KeptKeys } from '../request/kept-keys.js';
import { directionOf, rejectAmounts, rejectUnlessOptions } from '../request/request-checks.js';
import type { RequestReader } from '../request/request-reader.js';
import type { ScopeResolver } from '../request/scope-resolver.js';
import type { RefusalExplainer } from './explain-refusal.js';
import type { QuotaTeller } from './quota-told.js';

export interface UnpublishedWorkParts {
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly keys: KeyBook;
  readonly kept: KeptKeys;
  readonly scopes: ScopeResolver;
  readonly reader: RequestReader;
  readonly explainer: RefusalExplainer;
  readonly teller: QuotaTeller;
}

/** Decides work of silent keys without making groups of them. Every method returns null where a group has to decide. */
export class UnpublishedWork {
  readonly #parts: UnpublishedWorkParts;

  constructor(parts: UnpublishedWorkParts) {
    this.#parts = parts;
  }

  /** Decides at once. @param nowMs absent = read here */
  tryAcquire(where: Where, amounts: Amounts, options?: AcquireOptions, nowMs?: number): Decision | null {
    const { keys, clock } = this.#parts;
    const key = this.keyOf(where);
    if (key === null) return null;
    const atMs = nowMs ?? clock();
    const row = keys.rowOf(key, atMs);
    if (row === -1) return null;
    const asked = this.#asked(row, key, amounts, options);
    if (keys.isAsleep(atMs)) return keys.isShadow(row) ? GRANTED_DECISION : this.#notReady(row, asked);
    if (!keys.tryTake(row, key, asked, atMs)) return null;
    const isPlain = options === undefined || (options.atMost !== true && options.tell !== true);
    return isPlain ? GRANTED_DECISION : this.#told(key, asked, options);
  }

  // Apart: functions that know the key would make an object of every decision's names.
  #told(key: string, asked: AskedAmounts, options: AcquireOptions): Decision {
    const { keys, teller } = this.#parts;
    const shown = () => keys.usedNow(key);
    return options.atMost === true ? teller.partOfKey(asked, shown) : teller.grantOfKey(asked.direction, shown);
  }

  /** Takes for work whose cost is known later. */
  hold(where: Where, amounts: Amounts, origin: Origin | undefined): UnpublishedHold | NotReady | null {
    const found = this.#find(where, origin);
    if (found === null) return null;
    const { key, row, nowMs } = found;
    const { keys } = this.#parts;
    const asked = this.#asked(row, key, amounts, origin);
    if (!keys.isAsleep(nowMs)) return keys.tryHold(row, key, asked, nowMs);
    return keys.isShadow(row) ? null : this.#notReady(row, asked);
  }

  /**
   * Takes for work that is done whatever it costs.
   * @param isBounded true = the key's largest request bounds it
   */
  consume(where: Where, amounts: Amounts, origin: Origin | undefined, isBounded: boolean): true | null {
    const found = this.#find(where, origin);
    if (found === null) return null;
    const { key, row, nowMs } = found;
    const { keys } = this.#parts;
    const { messages = 0, bytes = 0 } = amounts;
    const asked = isBounded
      ? this.#asked(row, key, amounts, origin)
      : { direction: directionOf(origin), messages, bytes };
    return !keys.isAsleep(nowMs) && keys.tryTake(row, key, asked, nowMs) ? true : null;
  }

  /** Tests if an acquire would be granted now; takes nothing. */
  contains(where: Where, amounts: Amounts, origin: Origin | undefined): boolean | null {
    const found = this.#find(where, origin);
    if (found === null) return null;
    const { key, row, nowMs } = found;
    const { keys } = this.#parts;
    const asked = this.#asked(row, key, amounts, origin);
    if (keys.isAsleep(nowMs)) return keys.isShadow(row);
    return keys.contains(row, asked, nowMs) ? true : null;
  }

  /** Tests if there is something of each dimension. */
  isOpen(where: Where, origin: Origin | undefined): true | null {
    const found = this.#find(where, origin);
    if (found === null) return null;
    const { row, nowMs } = found;
    const { keys } = this.#parts;
    const asked = { direction: directionOf(origin), messages: 1, bytes: 1 };
    return !keys.isAsleep(nowMs) && keys.contains(row, asked, nowMs) ? true : null;
  }

  /** Finds the row of the key. Throws FIELD_INVALID. */
  #find(
    where: Where,
    origin: Origin | undefined,
  ): { readonly key: string; readonly row: number; readonly nowMs: number } | null {
    const { keys, clock } = this.#parts;
    const key = this.keyOf(where);
    if (key === null) return null;
    const nowMs = clock();
    const row = keys.rowOf(key, nowMs);
    if (row === -1) return null;
    rejectUnlessOptions(origin);
    return { key, row, nowMs };
  }

  /** Returns the key that alone decides; null = a group of its name, none, or several. */
  keyOf(where: Where): string | null {
    if (!this.#parts.keys.hasTemplates) return null;
    const name = typeof where === 'object' && where !== null ? this.#parts.scopes.onlyGroupOf(where) : where;
    return name === null || this.#parts.groups.numbers.has(name) || this.#parts.kept.has(name) ? null : name;
  }

  /** Returns such a key while no group stands for it; null = other work. */
  silentKeyOf(where: Where): string | null {
    const { keys } = this.#parts;
    const key = this.keyOf(where);
    return key !== null && keys.isKey(key) && !keys.isPublished(key) ? key : null;
  }

  /** Checks amounts. Throws AMOUNT_INVALID, FIELD_INVALID. */
  #asked(row: number, key: string, amounts: Amounts, origin: Origin | undefined): AskedAmounts {
    const direction = directionOf(origin);
    const { messages = 0, bytes = 0 } = amounts ?? NO_AMOUNTS;
    const most = this.#parts.keys.mostOf(row, direction);
    const mostMessages = most[MESSAGES];
    const mostBytes = most[BYTES];
    if (!isWithin(messages, mostMessages) || !isWithin(bytes, mostBytes) || messages + bytes === 0) {
      rejectAmounts(amounts, { messages: mostMessages, bytes: mostBytes, group: key });
    }
    return { direction, messages, bytes };
  }

  #notReady(row: number, { direction, messages, bytes }: AskedAmounts): NotReady {
    const { explainer, keys, reader } = this.#parts;
    const lane = laneOf(keys.groupOfTemplate(row), direction);
    return explainer.explain(reader.fillOn(lane, messages, bytes, NO_ORIGIN), UNCONFIRMED) as NotReady;
  }
}

function isWithin(amount: number, most: number): boolean {
  // Integers first: comparing a BigInt with a number throws an unreadable error.
  return Number.isInteger(amount) && amount >= 0 && amount <= most;
}

const NO_ORIGIN: Origin = Object.freeze({});
const NO_AMOUNTS: Amounts = Object.freeze({});
