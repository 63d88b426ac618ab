import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { asMalformed, guardAnswers } from '../answers/guard-answers.js';
import { checkProof, KafkaAnswerBounds, throttleTimeMs } from '../answers/kafka-answer-bounds.js';
import { withDeadline } from '../remote/deadline.js';
import type { TopicLog } from '../remote/topic-log.js';
import { errorOf, typeOf } from '../remote/topic-unusable.js';
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

/** Connection and authentication of brokers. */
export interface LinkSettings {
  readonly clientId: string;
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly tls: boolean | Readonly<Record<string, unknown>>;
  readonly sasl: Readonly<Record<string, unknown>> | null;
  /** Most bytes of one answer; default ANSWER_BYTES_MAX. */
  readonly answerBytesMax?: number;
}

/** Most bytes of an answer; a topic's record batch has 1 MiB by default, ours half of it. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
/** Most milliseconds of a pause: Kafka's windows are 11 s; more would hide a broker that is gone. */
const THROTTLE_MS_MAX = 30_000;

export interface SendOptions {
  /** Milliseconds that the broker may hold the answer, beside the request timeout. */
  readonly holdBackMs?: number;
  readonly decode?: (payload: Buffer) => Promise<unknown>;
}

/** Request in a version that kafkajs lacks. */
export interface OwnRequest<T> {
  readonly api: ApiName | OwnApiName;
  readonly apiVersion: number;
  /** Bytes behind kafkajs's header. */
  readonly body: Buffer;
  readonly decode: (payload: Buffer) => T;
}

/**
 * Connects to one broker until the first failure; then the link is never used again, so that no state of kafkajs
 * survives an error. Monotonic time bounds every wait.
 */
export class BrokerLink {
  readonly address: BrokerAddress;
  readonly #kafkajs: Kafkajs;
  readonly #settings: LinkSettings;
  readonly #pool: ConnectionPool;
  readonly #broker: Broker;
  readonly #onDestroyed: (link: BrokerLink, reason: Error) => void;
  /** End of the broker's silence on either connection. */
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
      // kafkajs times by the wall clock, ten times a second; `send` has its own deadline.
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

  /** Opens TCP and TLS, reads API versions, authenticates. Destroys the link on failure. */
  async connect(): Promise<void> {
    const { connectionTimeoutMs, requestTimeoutMs } = this.#settings;
    await this.#bounded(this.#broker.connect(), Math.max(connectionTimeoutMs, requestTimeoutMs), 'connecting');
  }

  /** Sends; resolves with the answer as it came, codes of single partitions included. Destroys the link on failure. */
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

  /** Tests if the broker has that version; false before it is connected. */
  serves(api: ApiName | OwnApiName, apiVersion: number): boolean {
    return (this.#broker.versions?.[this.#kafkajs.apiKeys[api]]?.maxVersion ?? -1) >= apiVersion;
  }

  /** Encodes in the newest version that both sides have. */
  protocol(api: ApiName, args: object): Protocol {
    return this.#broker.lookupRequest(this.#kafkajs.apiKeys[api], this.#kafkajs.requests[api])(args);
  }

  /** Rejects all requests with `reason`, at once; may be called again, and flushes nothing. */
  destroy(reason: Error): void {
    if (this.#destroyedBy) return;
    this.#destroyedBy = reason;
    for (const connection of this.#pool.pool) destroyConnection(connection, reason);
    this.#onDestroyed(this, reason);
  }

  /** Returns the timeout; a throttling broker is silent on purpose. */
  #timeoutMs(api: ApiName | OwnApiName): number {
    const untilMs = this.#silentUntilMs[api === 'Fetch' ? 'fetches' : 'others'];
    return this.#settings.requestTimeoutMs + Math.max(0, untilMs - performance.now());
  }

  /** Names undecodable answers malformed, and reads the broker's throttling. */
  #watchAnswers(connection: KafkajsConnection): void {
    const send = connection.send.bind(connection);
    connection.send = ({ request, response }) => {
      const decode = async (payload: Buffer) => {
        try {
          const { apiKey, apiVersion } = request as OwnEncoding;
          checkProof(apiKey, payload);
          const decoded = await response.decode(payload);
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
      this.destroy(errorOf(error));
      throw this.#destroyedBy;
    }
  }

  #unanswered(what: string, timeoutMs: number): Error {
    return new Error(`broker ${nameOf(this.address)} did not answer within ${timeoutMs} ms (${what})`);
  }
}

/** Stops a timer of kafkajs, for our connections alone. It re-arms each 1 ms: 3.4 % of a core. */
function silenceIdleTimer(connection: KafkajsConnection): void {
  const queue = connection.requestQueue;
  const schedule = queue.scheduleCheckPendingRequests.bind(queue);
  queue.scheduleCheckPendingRequests = () => {
    if (queue.pending.length > 0) schedule();
  };
}

function destroyConnection(connection: KafkajsConnection, reason: Error): void {
  // Only an error ends a connection attempt; an established connection would log it.
  const cause = connection.isConnected() ? undefined : reason;
  connection.rejectRequests(reason);
  connection.disconnect().catch(() => {});
  connection.socket?.destroy(cause);
}

export function nameOf({ host, port }: BrokerAddress): string {
  return `${host}:${port}`;
}

export function parseAddress(text: string): BrokerAddress {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  if (colon < 1 || !Number.isInteger(port)) throw new QuotameshError('USAGE', { reason: `no host:port: ${text}` });
  return { host, port };
}

/** Milliseconds before an idle connection is probed; kafkajs waits 60 s. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/** Opens a socket without Nagle's algorithm. That holds small records back while an acknowledgement is out. */
export function openSocket({ host, port, ssl, onConnect }: SocketOptions): Socket {
  const socket = ssl
    ? connectTls({ host, port, ...serverName(host), ...(ssl === true ? {} : ssl) }, onConnect)
    : connect({ host, port }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
  return socket;
}

/** Returns the server name; none for an IP address, which TLS forbids. */
function serverName(host: string): { servername?: string } {
  return isIP(host) ? {} : { servername: host };
}

const KAFKAJS_WARN_LEVEL = 2;

/** Logs kafkajs's lines as `debug`: an outage has many, and the adapter itself logs the loss once. */
export function kafkajsLogger(kafkajs: Kafkajs, log: TopicLog): Logger {
  return kafkajs.createLogger({ level: KAFKAJS_WARN_LEVEL, logCreator: () => (entry) => forward(entry, log) });
}

function forward({ namespace, label, log: { message, timestamp: _, logger: __, ...facts } }: LogEntry, log: TopicLog) {
  log('debug', `kafkajs: ${message}`, { kafkajsLevel: label, ...(namespace ? { part: namespace } : {}), ...facts });
}
