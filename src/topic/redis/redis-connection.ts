import { Redis, type RedisOptions } from 'ioredis';
import { guardAnswers } from '../answers/guard-answers.js';
import type { MalformedAnswer } from '../answers/malformed-answer.js';
import { RedisAnswerBounds } from '../answers/redis-answer-bounds.js';
import { withDeadline } from '../remote/deadline.js';
import { errorOf } from '../remote/topic-unusable.js';
import { isAnswer } from './redis-failure.js';
import type { RedisTopicOptions } from './redis-topic-options.js';

type Argument = string | number | Buffer;

/**
 * Connects until the first error. ioredis must neither reconnect, queue, nor send twice: the log would keep an old
 * report behind a newer one. Sentinels name the master.
 */
export class RedisConnection {
  /** Rejects when the connection has ended; never resolves. */
  readonly ended: Promise<never>;
  readonly #redis: Redis;
  readonly #requestTimeoutMs: number;
  readonly #connectionTimeoutMs: number;
  /** Rejects all that waits at the connection's end. *Why* no race with `ended`: it would keep every answer. */
  readonly #ends = new Set<(reason: Error) => void>();
  #reason: Error | null = null;
  #isDestroyed = false;

  constructor(options: RedisTopicOptions) {
    this.#redis = new Redis({ ...clientOptions(options), replyMapping: 'legacy' });
    this.#requestTimeoutMs = options.requestTimeoutMs;
    this.#connectionTimeoutMs = options.connectionTimeoutMs;
    this.ended = new Promise((_, reject) => this.#ends.add(reject));
    this.ended.catch(() => {});
    guardClient(this.#redis, (error) => this.destroy(error));
    this.#redis.on('error', (error: Error) => {
      this.#reason ??= error;
      this.#hearAll();
    });
    this.#redis.on('end', () => this.destroy(this.#reason ?? new Error('Redis closed the connection')));
  }

  async connect(): Promise<void> {
    const connecting = this.#redis.connect().catch((error: unknown) => {
      throw this.#reason ?? error;
    });
    await this.#within(connecting, this.#connectionTimeoutMs, 'connecting');
  }

  /** Sends; texts of answers are Buffers. @param holdBackMs milliseconds that the server may hold the answer back */
  async send(command: string, args: readonly Argument[], holdBackMs = 0): Promise<unknown> {
    const answer = this.#redis.callBuffer(command, [...args]);
    return this.#within(answer, this.#requestTimeoutMs + holdBackMs, command);
  }

  destroy(reason: Error): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#reason ??= reason;
    for (const end of this.#ends) end(this.#reason);
    this.#hearAll();
    this.#redis.disconnect();
  }

  /** Listens for all errors of a socket: a failed TLS handshake has two, and an unhandled one would end the process. */
  #hearAll(): void {
    this.#redis.stream?.on('error', () => {});
  }

  async #within<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
    const late = () => new Error(`Redis has not answered ${what} within ${timeoutMs} ms`);
    let end: (reason: Error) => void = () => {};
    const answered = new Promise<T>((resolve, reject) => {
      end = reject;
      work.then(resolve, reject);
    });
    this.#ends.add(end);
    if (this.#isDestroyed && this.#reason) end(this.#reason);
    try {
      return await withDeadline(answered, timeoutMs, late);
    } catch (error) {
      if (!isAnswer(error)) this.destroy(errorOf(error));
      throw isAnswer(error) ? error : (this.#reason ?? error);
    } finally {
      this.#ends.delete(end);
    }
  }
}

/** Parts that ioredis does not declare. */
interface ClientParts {
  readonly commandQueue: { readonly length: number };
  readonly connector: { connectToSentinel?: (...args: unknown[]) => Redis };
}

/** Guards the connections to Redis and Sentinels. */
function guardClient(redis: Redis, onMalformed: (error: MalformedAnswer) => void): void {
  const { connector } = redis as unknown as ClientParts;
  redis.on('connect', () => {
    const bounds = new RedisAnswerBounds(() => (redis as unknown as ClientParts).commandQueue.length);
    guardAnswers(redis.stream, bounds, onMalformed);
  });
  const connect = connector.connectToSentinel?.bind(connector);
  if (connect === undefined) return;
  connector.connectToSentinel = (...args) => {
    const sentinel = connect(...args);
    guardClient(sentinel, onMalformed);
    return sentinel;
  };
}

function clientOptions(options: RedisTopicOptions): RedisOptions {
  const { addresses, sentinel, tls, connectionTimeoutMs, requestTimeoutMs } = options;
  const common: RedisOptions = {
    lazyConnect: true,
    // topic-link.ts authenticates and selects the database, to learn what went wrong.
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
    connectTimeout: connectionTimeoutMs,
    ...(tls === null ? {} : { tls }),
  };
  if (sentinel.master === null) return { ...common, ...addresses[0] };
  return {
    ...common,
    sentinels: [...addresses],
    name: sentinel.master,
    ...(sentinel.username === null ? {} : { sentinelUsername: sentinel.username }),
    ...(sentinel.password === null ? {} : { sentinelPassword: sentinel.password }),
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: requestTimeoutMs,
    enableTLSForSentinelMode: tls !== null,
    ...(tls !== null && sentinel.tls ? { sentinelTLS: tls } : {}),
  };
}
