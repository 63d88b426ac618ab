import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { AloneTopic } from '../../topic/alone/alone-topic.js';
import type { Gate } from '../admission/gate.js';
import type { BackendPoller } from '../backends/backend-poller.js';
import type { Enforcers } from '../enforcers/enforcers.js';
import type { KeyBook } from '../groups/keys/key-book.js';
import type { GroupRegistry } from '../groups/registry/group-registry.js';
import type { BudgetLanes } from '../strict/budget-lanes.js';
import type { SlotLanes } from '../strict/slot-lanes.js';
import type { StrictLanes } from '../strict/strict-lanes.js';
import type { StrictLog } from '../strict/strict-log.js';
import { callEmbedder, warnEmbedder } from './call-embedder.js';
import type { NodeLoop } from './node-loop.js';
import type { TopicPump } from './topic-pump.js';

/** Milliseconds of a farewell; without one the others notice the silence. */
const FAREWELL_TIMEOUT_MS = 1500;

interface NodeLifeParts {
  readonly registry: GroupRegistry | null;
  readonly pump: TopicPump;
  readonly loop: NodeLoop;
  readonly gate: Gate;
  readonly enforcers: Pick<Enforcers, 'close'>;
  readonly poller: BackendPoller;
  readonly telemetry: Telemetry;
  /** Null = no group is made by use. */
  readonly keys: Pick<KeyBook, 'lastWords'> | null;
  readonly strict: Pick<StrictLanes, 'start' | 'close'>;
  readonly slots: Pick<SlotLanes, 'start' | 'close'>;
  readonly budgets: Pick<BudgetLanes, 'start' | 'close'>;
  readonly strictLog: Pick<StrictLog, 'start' | 'close'>;
  /** Topic of the pump where the node may begin without it. */
  readonly aloneTopic: AloneTopic | null;
}

/** Orders the beginnings and ends of a node's parts. */
export class NodeLife {
  /** Called once, when the node has stopped deciding for good: `NODE_FENCED` or `PARTITIONS_DIFFER`. */
  onFenced: ((error: QuotameshError) => void) | null = null;
  readonly #parts: NodeLifeParts;
  readonly #ends: (() => void)[] = [];
  #closing: Promise<void> | null = null;

  constructor(parts: NodeLifeParts) {
    this.#parts = parts;
  }

  get isClosing(): boolean {
    return this.#closing !== null;
  }

  fenced(error: QuotameshError): void {
    callEmbedder(
      () => this.onFenced?.(error),
      (reason) => warnEmbedder('CALLBACK_FAILED', { callback: 'onFenced', reason }),
    );
  }

  /** Opens the topic and joins. Resolves when it is open, before the node is ready; rejects when it cannot be used. */
  async start(): Promise<void> {
    const { registry, pump, loop, poller, strict, slots, budgets, strictLog, aloneTopic } = this.#parts;
    // Groups must be known before decisions; a node that begins alone knows YAML's.
    if (aloneTopic === null) await registry?.open();
    else aloneTopic.waitFor(registry?.open() ?? Promise.resolve());
    if (this.isClosing) return;
    await pump.open();
    if (this.isClosing) return;
    loop.start();
    poller.start();
    strict.start();
    slots.start();
    budgets.start();
    if (aloneTopic === null) await strictLog.start();
    else aloneTopic.waitFor(strictLog.start());
  }

  /** Registers an end, called once when the node has closed. */
  atEnd(end: () => void): void {
    this.#ends.push(end);
  }

  /** Stops deciding, publishes the farewell, closes the topic. Resolves within 4 s. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { registry, pump, loop, gate, enforcers, poller, telemetry, keys, strict, slots, budgets, strictLog } =
      this.#parts;
    poller.stop();
    loop.stop();
    gate.close();
    enforcers.close();
    if (loop.coordinator !== null) {
      loop.step({ kind: 'stopping', unpublished: keys?.lastWords() ?? [] });
      const published = await pump.flush(FAREWELL_TIMEOUT_MS);
      if (!published) telemetry.log('warn', 'farewell not published; the others will notice the silence');
    }
    strict.close();
    slots.close();
    budgets.close();
    await Promise.all([registry?.close(), pump.close(), strictLog.close()]);
    for (const end of this.#ends) end();
  }
}
