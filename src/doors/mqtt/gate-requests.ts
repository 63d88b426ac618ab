import { createHash } from 'node:crypto';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { type Direction, directionIndex, laneOf } from '../../core/base/vocabulary.js';
import type { ThrottleReason } from '../../core/limiter/throttle-tracker.js';
import { NAME_MAX } from '../../node/admission/request/request-checks.js';
import { WAIT_MS_MAX } from '../../node/admission/wait/wait-lines.js';
import type { Decision, Refuser, Where } from '../../node/api/decision.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import type { GatedConnection } from './gated-connection.js';

/** One message in either direction. */
export interface Passage {
  /** Group, or a scope, all of whose groups decide. */
  readonly where: Where;
  readonly direction: Direction;
  readonly topic: string;
  readonly bytes: number;
}

/** First answer: it goes, or why it waits; `isCounted` = it counts as demand already. */
export type FirstAnswer =
  | { readonly passes: true }
  | { readonly passes: false; readonly reason: ThrottleReason; readonly isCounted: boolean };

/** Requests passage of a node. The connection's client is the one whose turn it is. */
export class Passages {
  readonly #node: NodeParts;

  constructor(node: NodeParts) {
    this.#node = node;
  }

  /** Lets the message go now, or behind others of its group. */
  try(connection: GatedConnection, passage: Passage): FirstAnswer {
    if (this.#lanesOf(passage).some((lane) => this.#node.limiter.heldBack[lane] !== 0)) return JOINS;
    const decision = this.#node.gate.tryAcquire(passage.where, amountsOf(passage), originOf(connection, passage));
    return decision.granted ? PASSES : { passes: false, reason: reasonOf(decision), isCounted: true };
  }

  /** Resolves at its turn, fair among the clients of the group. */
  async wait(connection: GatedConnection, passage: Passage, isCounted: boolean): Promise<void> {
    const { signal } = connection.ended;
    const origin = originOf(connection, passage);
    for (let retry = isCounted; ; retry = true) {
      const options = { ...origin, waitMs: WAIT_MS_MAX, retry, signal };
      const decision = await this.#node.gate.acquire(passage.where, amountsOf(passage), options);
      if (decision.granted) return;
      if (this.#node.life.isClosing) throw new QuotameshError('NOT_READY', NODE_STOPS);
    }
  }

  /** Charges a message that cannot wait: the will of a client that is gone. */
  charge(connection: GatedConnection, passage: Passage): void {
    this.#node.gate.consume(passage.where, amountsOf(passage), originOf(connection, passage));
  }

  #lanesOf({ where, direction }: Passage): readonly number[] {
    const { gate } = this.#node;
    if (gate.silentKeyOf(where) !== null) return NONE;
    const at = directionIndex(direction);
    return typeof where === 'string' ? [laneOf(gate.groupIndex(where), at)] : gate.scopes.lanesOf(where, at);
  }
}

/** No dimensions: nobody waits for a key that is no group yet. */
const NONE: readonly number[] = [];
const PASSES: FirstAnswer = Object.freeze({ passes: true });
const JOINS: FirstAnswer = Object.freeze({ passes: false, reason: 'groupRate', isCounted: false });
const NODE_STOPS = { node: 'of this broker', reason: 'it stops' };

const REASONS: Readonly<Record<Refuser, ThrottleReason>> = {
  group: 'groupRate',
  budget: 'groupRate',
  node: 'nodeRate',
  topic: 'topicRate',
  client: 'clientRate',
};

function reasonOf(decision: Exclude<Decision, { granted: true }>): ThrottleReason {
  return decision.reason === 'quota' ? REASONS[decision.level] : 'groupRate';
}

function amountsOf({ bytes }: Passage) {
  return { messages: 1, bytes };
}

function originOf({ clientId }: GatedConnection, { direction, topic }: Passage) {
  return { direction, topic: nameOf(topic), client: nameOf(clientId) };
}

/** Digests long names: MQTT's may have 65,535 bytes, levels' 256 characters. */
function nameOf(name: string): string {
  return name.length <= NAME_MAX ? name : createHash('sha256').update(name).digest('base64');
}
