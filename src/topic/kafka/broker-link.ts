import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { asMalformed, guardAnswers } from '../answers/guard-answers.js';
import { KafkaAnswerBounds, throttleTimeMs } from '../answers/kafka-answer-bounds.js';
import { withDeadline } from '../remote/deadline.js';
import type { TopicLog } from '../remote/topic-log.js';
import { typeOf } from '../remote/topic-unusable.js';
import type {
  ApiName,
  Broker,
  ConnectionPool,
  Kafkajs,
  KafkajsConnection,
  LogEntry,
  Logger,
  OwnApiName,
  OwnEncoding,
  Protocol,
  SocketOptions,
} from './kafkajs-internals.js';
import { clientText, ownQuotaCommand, quotaClientOf } from './own-quota.js';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** How to connect to brokers, and to authenticate there. */
export interface LinkSettings {
  readonly clientId: string;
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly tls: boolean | Readonly<Record<string, unknown>>;
  readonly sasl: Readonly<Record<string, unknown>> | null;
  /** What is kept of one answer; ANSWER_BYTES_MAX unless said. */
  readonly answerBytesMax?: number;
}

/**
 * A record batch of a topic has 1 MiB by default, and ours at most half of it. More would be kept of a hostile server.
 */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
/** Kafka pauses for its windows at most, 11 s by default; more would hide a broker that is gone. */
const THROTTLE_MS_MAX = 30_000;

export interface SendOptions {
  /** How long the broker may hold the answer back on purpose; it comes on top of the request timeout. */
  readonly holdBackMs?: number;
  readonly decode?: (payload: Buffer) => Promise<unknown>;
}

/** A request in a version of the protocol that kafkajs does not know. */
export interface OwnRequest<T> {
  readonly api: ApiName | OwnApiName;
  readonly apiVersion: number;
  /** The bytes behind kafkajs's header. */
  readonly body: Buffer;
  readonly decode: (payload: Buffer) => T;
}

/**
 * The connections to one broker, until the first failure: then the link is destroyed and never used again, so that no
 * state of kafkajs survives an error. Every wait is bounded by the monotonic clock.
 */
export class BrokerLink {
  readonly address: BrokerAddress;
  readonly #kafkajs: Kafkajs;
  readonly #settings: LinkSettings;
  readonly #pool: ConnectionPool;
  readonly #broker: Broker;
  readonly #onDestroyed: (link: BrokerLink, reason: Error) => void;
  /** Until when the broker reads nothing: of the connection for fetches, and of the other one. */
  readonly #silentUntilMs = { fetches: 0, others: 0 };
  readonly #onThrottled: (throttleMs: number, throttled: QuotameshError) => void;
  #destroyedBy: Error | null = null;

  constructor(
    kafkajs: Kafkajs,
    address: BrokerAddress,
    settings: LinkSettings,
    log: TopicLog,
    onDestroyed: (link: BrokerLink, reason: Error) => void = () => {},
    onThrottled: (throttleMs: number, throttled: QuotameshError) => void = () => {},
  ) {
    this.#onThrottled = onThrottled;
    this.#kafkajs = kafkajs;
    this.#onDestroyed = onDestroyed;
    this.address = address;
    this.#settings = settings;
    const logger = kafkajsLogger(kafkajs, log);
    this.#pool = new kafkajs.ConnectionPool({
      ...address,
      clientId: settings.clientId,
      connectionTimeout: settings.connectionTimeoutMs,
      requestTimeout: settings.requestTimeoutMs,
      // kafkajs measures this timeout by the wall clock, ten times a second; `send` has a deadline of its own.
      enforceRequestTimeout: false,
      ssl: settings.tls || null,
      // A copy, because kafkajs writes into the object.
      sasl: settings.sasl && { ...settings.sasl },
      socketFactory: (options) => {
        if (this.#destroyedBy) throw this.#destroyedBy;
        const socket = openSocket(options);
        this.#guard(socket);
        return socket;
      },
      logger,
    });
    for (const connection of this.#pool.pool) {
      silenceIdleTimer(connection);
      this.#watchAnswers(connection);
    }
    this.#broker = new kafkajs.Broker({ connectionPool: this.#pool, logger, allowAutoTopicCreation: false });
  }

  /** Opens TCP and TLS, asks for the broker's API versions, and authenticates. Destroys the link when it fails. */
  async connect(): Promise<void> {
    const { connectionTimeoutMs, requestTimeoutMs } = this.#settings;
    await this.#bounded(this.#broker.connect(), Math.max(connectionTimeoutMs, requestTimeoutMs), 'connecting');
  }

  /**
   * Resolves with the answer as it came: errors of single partitions are codes in it and are not thrown. Destroys the
   * link when it fails.
   */
  async send<T>(api: ApiName, args: object, { holdBackMs = 0, decode }: SendOptions = {}): Promise<T> {
    if (this.#destroyedBy) throw this.#destroyedBy;
    const protocol = this.protocol(api, args);
    const response = { decode: decode ?? protocol.response.decode, parse: async (decoded: unknown) => decoded };
    const answer = this.#pool.send({ ...protocol, response });
    return (await this.#bounded(answer, this.#timeoutMs(api) + holdBackMs, api)) as T;
  }

  /** Does what `send` does, without kafkajs's codecs. */
  async exchange<T>({ api, apiVersion, body, decode }: OwnRequest<T>, holdBackMs = 0): Promise<T> {
    if (this.#destroyedBy) throw this.#destroyedBy;
    const apiKey = this.#kafkajs.apiKeys[api];
    const encode = async () => ({ buf: body, buffer: body });
    const answer = this.#pool.send({
      request: { apiKey, apiVersion, apiName: api, encode },
      response: { decode: async (payload) => decode(payload), parse: async (decoded) => decoded },
    });
    return (await this.#bounded(answer, this.#timeoutMs(api) + holdBackMs, api)) as T;
  }

  /** Whether the broker knows that version of the API; false before it is connected. */
  serves(api: ApiName | OwnApiName, apiVersion: number): boolean {
    return (this.#broker.versions?.[this.#kafkajs.apiKeys[api]]?.maxVersion ?? -1) >= apiVersion;
  }

  /** Encodes the request in the newest version of the API that both sides know. */
  protocol(api: ApiName, args: object): Protocol {
    return this.#broker.lookupRequest(this.#kafkajs.apiKeys[api], this.#kafkajs.requests[api])(args);
  }

  /** Rejects all requests under way with `reason`. It acts at once, may be called again, and flushes nothing. */
  destroy(reason: Error): void {
    if (this.#destroyedBy) return;
    this.#destroyedBy = reason;
    for (const connection of this.#pool.pool) destroyConnection(connection, reason);
    this.#onDestroyed(this, reason);
  }

  /** A broker that throttles is silent on purpose, and not to blame. */
  #timeoutMs(api: ApiName | OwnApiName): number {
    const untilMs = this.#silentUntilMs[api === 'Fetch' ? 'fetches' : 'others'];
    return this.#settings.requestTimeoutMs + Math.max(0, untilMs - performance.now());
  }

  /** Says of an answer that cannot be decoded that it is malformed, and reads for how long the broker throttles. */
  #watchAnswers(connection: KafkajsConnection): void {
    const send = connection.send.bind(connection);
    connection.send = ({ request, response }) => {
      const decode = async (payload: Buffer) => {
        try {
          const decoded = await response.decode(payload);
          const { apiKey, apiVersion } = request as OwnEncoding;
          this.#throttled(apiKey, Math.min(THROTTLE_MS_MAX, throttleTimeMs(apiKey, apiVersion, payload)));
          return decoded;
        } catch (error) {
          throw error instanceof QuotameshError || typeOf(error) !== undefined ? error : asMalformed(error);
        }
      };
      return send({ request, response: { parse: (decoded) => response.parse(decoded), decode } });
    };
  }

  #throttled(apiKey: number, throttleMs: number): void {
    if (throttleMs === 0) return;
    const connection = apiKey === this.#kafkajs.apiKeys.Fetch ? 'fetches' : 'others';
    this.#silentUntilMs[connection] = performance.now() + throttleMs;
    const { clientId, sasl, tls } = this.#settings;
    const broker = nameOf(this.address);
    const client = quotaClientOf(clientId, sasl, tls);
    const { Produce, Fetch } = this.#kafkajs.apiKeys;
    const kind = apiKey === Produce ? 'producer_byte_rate or ' : apiKey === Fetch ? 'consumer_byte_rate or ' : '';
    const facts = { broker, client: clientText(client), command: ownQuotaCommand(client, broker) };
    this.#onThrottled(
      throttleMs,
      new QuotameshError('TOPIC_THROTTLED', { ...facts, quota: `${kind}request_percentage` }),
    );
  }

  #guard(socket: Socket): void {
    const isAwaited = (correlationId: number) => {
      return this.#pool.pool.find((each) => each.socket === socket)?.requestQueue.inflight.has(correlationId) ?? false;
    };
    const bounds = new KafkaAnswerBounds(this.#settings.answerBytesMax ?? ANSWER_BYTES_MAX, isAwaited);
    guardAnswers(socket, bounds, (error) => this.destroy(error));
  }

  async #bounded<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
    try {
      return await withDeadline(work, timeoutMs, () => this.#unanswered(what, timeoutMs));
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
      throw this.#destroyedBy;
    }
  }

  #unanswered(what: string, timeoutMs: number): Error {
    return new Error(`broker ${nameOf(this.address)} did not answer within ${timeoutMs} ms (${what})`);
  }
}

/**
 * Stops a timer of kafkajs. Since 2.2.4 every connection re-arms a timer of 1 ms for ever, which looks for requests
 * that wait for their turn, also when none does: 3.4 % of a core at rest. Only our own connections are changed; other
 * users of kafkajs in this process keep what they have.
 */
function silenceIdleTimer(connection: KafkajsConnection): void {
  const queue = connection.requestQueue;
  const schedule = queue.scheduleCheckPendingRequests.bind(queue);
  queue.scheduleCheckPendingRequests = () => {
    if (queue.pending.length > 0) schedule();
  };
}

function destroyConnection(connection: KafkajsConnection, reason: Error): void {
  // Only an error ends a connection attempt that is under way; an established connection would log it as a failure.
  const cause = connection.isConnected() ? undefined : reason;
  connection.rejectRequests(reason);
  connection.disconnect().catch(() => {});
  connection.socket?.destroy(cause);
}

export function nameOf({ host, port }: BrokerAddress): string {
  return `${host}:${port}`;
}

/** Parses `host:port` or `[v6]:port`. */
export function parseAddress(text: string): BrokerAddress {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  if (colon < 1 || !Number.isInteger(port)) throw new QuotameshError('USAGE', { reason: `no host:port: ${text}` });
  return { host, port };
}

/** Time after which an idle connection is probed; kafkajs's own factory waits 60 s. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Opens a socket without Nagle's algorithm. kafkajs leaves it on, and it holds small records back while an
 * acknowledgement is out.
 */
export function openSocket({ host, port, ssl, onConnect }: SocketOptions): Socket {
  const socket = ssl
    ? connectTls({ host, port, ...serverName(host), ...(ssl === true ? {} : ssl) }, onConnect)
    : connect({ host, port }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
  return socket;
}

/** The server name is absent for an IP address: TLS forbids addresses there. */
function serverName(host: string): { servername?: string } {
  return isIP(host) ? {} : { servername: host };
}

const KAFKAJS_WARN_LEVEL = 2;

/**
 * Logs kafkajs's own lines as `debug`. kafkajs calls each failed attempt an error, and an outage has many; the adapter
 * itself says once what was lost and why.
 */
export function kafkajsLogger(kafkajs: Kafkajs, log: TopicLog): Logger {
  return kafkajs.createLogger({ level: KAFKAJS_WARN_LEVEL, logCreator: () => (entry) => forward(entry, log) });
}

function forward({ namespace, label, log: { message, timestamp: _, logger: __, ...facts } }: LogEntry, log: TopicLog) {
  log('debug', `kafkajs: ${message}`, { kafkajsLevel: label, ...(namespace ? { part: namespace } : {}), ...facts });
}
