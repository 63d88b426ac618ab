import { setTimeout as sleep } from 'node:timers/promises';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { grpc } from '../generated/messages.js';
import { decoded } from './decoded.js';
import type { CallFacts, GrpcMethod, MessageListener, MessageStream } from './grpc-method.js';

const { HealthCheckRequest, HealthCheckResponse } = grpc.health.v1;
const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse.ServingStatus;

/**
 * Tells whether the node decides (grpc.health.v1): the whole of it by the service '', each service by its name. Probes
 * have no token, and need none.
 */
export class HealthService {
  readonly methods: readonly GrpcMethod[];
  readonly #services: ReadonlySet<string>;
  readonly #isServing: () => boolean;
  readonly #watchers = new Set<Watcher>();
  /** Peer → when it asked last, in this order; those that have not heard of the end. */
  readonly #asked = new Map<string, number>();
  #look: NodeJS.Timeout | null = null;
  #isEnding = false;

  constructor(services: readonly string[], isServing: () => boolean) {
    this.#services = new Set(['', 'grpc.health.v1.Health', ...services]);
    this.#isServing = isServing;
    const open = { needs: 'open', maxRequestBytes: REQUEST_BYTES_MAX } as const;
    this.methods = [
      { ...open, kind: 'unary', path: '/grpc.health.v1.Health/Check', answer: (...asked) => this.#check(...asked) },
      { ...open, kind: 'stream', path: '/grpc.health.v1.Health/Watch', open: (stream) => this.#watch(stream) },
    ];
  }

  /**
   * Tells watchers that the node is about to go, and whoever asks. Resolves when all who have asked lately have heard
   * it, at the latest after ENDING_MS. *Why:* Envoy connects anew to a node until its own check has failed.
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#tellAll();
    if (this.#look !== null) clearInterval(this.#look);
    const begunMs = performance.now();
    for (const [peer, askedMs] of this.#asked) if (begunMs - askedMs > ASKS_WITHIN_MS) this.#asked.delete(peer);
    while (this.#asked.size > 0 && performance.now() - begunMs < ENDING_MS) await sleep(LOOK_ENDING_MS);
  }

  #statusOf(service: string): number {
    if (!this.#services.has(service)) return SERVICE_UNKNOWN;
    return !this.#isEnding && this.#isServing() ? SERVING : NOT_SERVING;
  }

  #check(request: Uint8Array, { peer }: CallFacts): Uint8Array {
    this.#asked.delete(peer);
    if (!this.#isEnding) this.#remember(peer);
    const { service } = decoded(HealthCheckRequest, request);
    const status = this.#statusOf(service);
    if (status === SERVICE_UNKNOWN)
      throw new QuotameshError('GRPC_SERVICE_UNKNOWN', { service: service.slice(0, 200) });
    return HealthCheckResponse.encode({ status }).finish();
  }

  /** Keeps who asked last; the one that has been silent longest goes. */
  #remember(peer: string): void {
    for (const silent of this.#asked.keys()) {
      if (this.#asked.size < PEERS_MAX) break;
      this.#asked.delete(silent);
    }
    this.#asked.set(peer, performance.now());
  }

  #watch(stream: MessageStream): MessageListener {
    const watcher: Watcher = { stream, service: null, told: null };
    this.#watchers.add(watcher);
    this.#look ??= setInterval(() => this.#tellAll(), LOOK_EVERY_MS).unref();
    return {
      message: (bytes) => {
        watcher.service ??= decoded(HealthCheckRequest, bytes).service;
        this.#tell(watcher);
      },
      ended: () => undefined,
      closed: () => void this.#watchers.delete(watcher),
    };
  }

  #tellAll(): void {
    for (const watcher of this.#watchers) this.#tell(watcher);
  }

  #tell(watcher: Watcher): void {
    const { stream, service, told } = watcher;
    if (service === null) return;
    const status = this.#statusOf(service);
    if (status === told) return;
    watcher.told = status;
    stream.send(HealthCheckResponse.encode({ status }).finish());
  }
}

interface Watcher {
  readonly stream: MessageStream;
  /** Null until the request has come. */
  service: string | null;
  told: number | null;
}

const REQUEST_BYTES_MAX = 1024;
/** Milliseconds until a watcher learns of a change. */
const LOOK_EVERY_MS = 250;
/** Milliseconds that an end waits for who asks: half as long again as an interval of 1 s. */
const ENDING_MS = 1500;
const LOOK_ENDING_MS = 20;
/** Milliseconds: who asks more seldom is not waited for. */
const ASKS_WITHIN_MS = 3000;
/** Peers that are waited for: strangers may ask, too. */
export const PEERS_MAX = 1000;
