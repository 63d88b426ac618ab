import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { MessageListener, MessageStream } from '../grpc/grpc-method.js';
import { type BucketAction, BucketBook, type BucketUsage, TTL_MS } from './bucket-book.js';
import type { BucketId } from './bucket-id.js';
import { readReport, writeActions } from './quota-messages.js';
import type { QuotaServiceParts } from './quota-service.js';

/** One Envoy, or one gRPC server, that enforces by itself; several domains are several streams. */
export class QuotaStream implements MessageListener {
  readonly book: BucketBook;
  reports = 0;
  told = 0;
  readonly #parts: QuotaServiceParts;
  readonly #stream: MessageStream;
  readonly #onClosed: (stream: QuotaStream) => void;
  #domain = '';
  /** Reports that are not taken yet; of the first, the entries that are. */
  readonly #untaken: (readonly BucketUsage[])[] = [];
  #takenTo = 0;

  constructor(parts: QuotaServiceParts, stream: MessageStream, number: number, onClosed: (gone: QuotaStream) => void) {
    const { enforcers, targetOf } = parts;
    this.#parts = parts;
    this.#stream = stream;
    this.#onClosed = onClosed;
    const node = stream.metadata(NODE_METADATA)?.slice(0, NODE_LENGTH_MAX) ?? 'envoy';
    this.book = new BucketBook({
      enforcers,
      enforcer: `${node} ${stream.peer} #${number}`,
      life: 1,
      targetOf: (id: BucketId) => targetOf(this.#domain, id),
      bucketsMax: BUCKETS_MAX,
    });
  }

  message(bytes: Uint8Array): void {
    const { domain, usages } = readReport(bytes);
    // Only the first report has to name it.
    if (domain !== '') this.#domain = domain;
    this.reports++;
    this.#untaken.push(usages);
    if (this.#untaken.length > UNTAKEN_MAX) while (this.#untaken.length > 0) this.#takeSome();
    else if (this.#untaken.length === 1) this.#takeSome();
  }

  /** Takes some entries, the others in further turns: decisions about requests do not wait for 20,000 buckets. */
  #takeSome(): void {
    const [usages] = this.#untaken;
    if (usages === undefined) return;
    const nowMs = this.#parts.clock();
    if (this.#takenTo === 0) this.book.begin(nowMs);
    const some = usages.slice(this.#takenTo, this.#takenTo + TAKEN_AT_ONCE);
    this.#send(this.book.report(some, nowMs));
    this.#takenTo += some.length;
    if (this.#takenTo >= usages.length) {
      this.#untaken.shift();
      this.#takenTo = 0;
    }
    if (this.#untaken.length > 0) setImmediate(() => this.#goOn());
  }

  #goOn(): void {
    if (!this.#stream.isOpen) return;
    try {
      this.#takeSome();
    } catch (error) {
      this.#untaken.length = 0;
      if (!(error instanceof QuotameshError)) throw error;
      this.#stream.end(error);
    }
  }

  /** Sends what is due; one that does not read is told when it does. */
  tell(): void {
    if (this.#stream.unsentBytes <= UNSENT_MAX) this.#send(this.book.actions(this.#parts.clock()));
  }

  #send(actions: readonly BucketAction[]): void {
    if (!this.#stream.isOpen) return;
    this.told += actions.length;
    for (const message of writeActions(actions, TTL_MS)) this.#stream.send(message);
  }

  ended(): void {
    this.#stream.end();
  }

  closed(): void {
    this.book.end();
    this.#onClosed(this);
  }
}

/** Names the Envoy, where its configuration sends it (`initial_metadata`): the protocol has no field for that. */
const NODE_METADATA = 'x-envoy-node';
const NODE_LENGTH_MAX = 100;
const BUCKETS_MAX = 20_000;
/** Entries taken in a turn of the event loop, some ms. */
const TAKEN_AT_ONCE = 250;
/** Reports that wait; Envoy sends one every 5 s, and one for each new bucket. */
const UNTAKEN_MAX = 10_000;
const UNSENT_MAX = 1024 * 1024;
