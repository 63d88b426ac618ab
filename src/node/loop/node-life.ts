import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { AloneTopic } from '../../topic/alone/alone-topic.js';
import type { Gate } from '../admission/gate.js';
import type { BackendPoller } from '../backends/backend-poller.js';
import type { Enforcers } from '../enforcers/enforcers.js';
import type { KeyBook } from '../groups/keys/key-book.js';
import type { GroupRegistry } from '../groups/registry/group-registry.js';
import { callEmbedder, warnEmbedder } from './call-embedder.js';
import type { NodeLoop } from './node-loop.js';
import type { TopicPump } from './topic-pump.js';

/** How long a farewell may take before the node leaves without it; the others then notice its silence. */
const FAREWELL_TIMEOUT_MS = 1500;

export interface NodeLifeParts {
  /** Null where it is switched off. */
  readonly registry: GroupRegistry | null;
  readonly pump: TopicPump;
  readonly loop: NodeLoop;
  readonly gate: Gate;
  readonly enforcers: Pick<Enforcers, 'close'>;
  readonly poller: BackendPoller;
  readonly telemetry: Telemetry;
  /** Null where no group is made by use. */
  readonly keys: Pick<KeyBook, 'lastWords'> | null;
  /** The pump's topic, where the node may begin without it. */
  readonly aloneTopic: AloneTopic | null;
}

/** The order in which the parts of a node begin and end. */
export class NodeLife {
  /**
   * Called once, when the node has stopped deciding for good: a newer process with the same id has taken over
   * (`NODE_FENCED`), or a member works with fewer partitions of the topic than this node counts (`PARTITIONS_DIFFER`).
   */
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

  /** The node has stopped deciding for good. */
  fenced(error: QuotameshError): void {
    callEmbedder(
      () => this.onFenced?.(error),
      (reason) => warnEmbedder('CALLBACK_FAILED', { callback: 'onFenced', reason }),
    );
  }

  /**
   * Opens the topic and joins. Resolves when the topic is open (it may be a while until the node is ready); rejects
   * when the topic cannot be used as it is.
   */
  async start(): Promise<void> {
    const { registry, pump, loop, poller, aloneTopic } = this.#parts;
    // Nothing is decided before the groups are known; a node that begins alone knows those of YAML.
    if (aloneTopic === null) await registry?.open();
    else aloneTopic.waitFor(registry?.open() ?? Promise.resolve());
    if (this.isClosing) return;
    await pump.open();
    if (this.isClosing) return;
    loop.start();
    poller.start();
  }

  /** For what was attached to the node: called once, when it has closed. */
  atEnd(end: () => void): void {
    this.#ends.push(end);
  }

  /** Stops deciding, publishes the farewell, closes the topic. Resolves within 4 s. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { registry, pump, loop, gate, enforcers, poller, telemetry, keys } = this.#parts;
    poller.stop();
    loop.stop();
    gate.close();
    enforcers.close();
    if (loop.coordinator !== null) {
      loop.step({ kind: 'stopping', unheard: keys?.lastWords() ?? [] });
      const published = await pump.flush(FAREWELL_TIMEOUT_MS);
      if (!published) telemetry.log('warn', 'farewell not published; the others will notice the silence');
    }
    await Promise.all([registry?.close(), pump.close()]);
    for (const end of this.#ends) end();
  }
}
