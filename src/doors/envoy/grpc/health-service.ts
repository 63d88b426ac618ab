import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { grpc } from '../generated/messages.js';
import { decoded } from './decoded.js';
import type { GrpcMethod, MessageListener, MessageStream } from './grpc-method.js';

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
  #look: NodeJS.Timeout | null = null;
  #isEnding = false;

  constructor(services: readonly string[], isServing: () => boolean) {
    this.#services = new Set(['', 'grpc.health.v1.Health', ...services]);
    this.#isServing = isServing;
    const open = { needs: 'open', maxRequestBytes: REQUEST_BYTES_MAX } as const;
    this.methods = [
      { ...open, kind: 'unary', path: '/grpc.health.v1.Health/Check', answer: (request) => this.#check(request) },
      { ...open, kind: 'stream', path: '/grpc.health.v1.Health/Watch', open: (stream) => this.#watch(stream) },
    ];
  }

  /** Tells watchers that the node is about to go, and whoever asks. */
  end(): void {
    this.#isEnding = true;
    this.#tellAll();
    if (this.#look !== null) clearInterval(this.#look);
  }

  #statusOf(service: string): number {
    if (!this.#services.has(service)) return SERVICE_UNKNOWN;
    return !this.#isEnding && this.#isServing() ? SERVING : NOT_SERVING;
  }

  #check(request: Uint8Array): Uint8Array {
    const { service } = decoded(HealthCheckRequest, request);
    const status = this.#statusOf(service);
    if (status === SERVICE_UNKNOWN)
      throw new QuotameshError('GRPC_SERVICE_UNKNOWN', { service: service.slice(0, 200) });
    return HealthCheckResponse.encode({ status }).finish();
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
