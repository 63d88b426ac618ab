import type { Socket } from 'node:net';
// By their paths, so that who bundles a service bundles them, too.
import broker from 'kafkajs/src/broker/index.js';
import loggers from 'kafkajs/src/loggers/index.js';
import connectionPool from 'kafkajs/src/network/connectionPool.js';
import decoder from 'kafkajs/src/protocol/decoder.js';
import errors from 'kafkajs/src/protocol/error.js';
import compression from 'kafkajs/src/protocol/message/compression/index.js';
import apiKeys from 'kafkajs/src/protocol/requests/apiKeys.js';
import requests from 'kafkajs/src/protocol/requests/index.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { requireFromHere } from '../../base/package/require-from-here.js';
import { addCodecs, type KafkajsCodecs } from '../codecs/codecs.js';

/**
 * The parts of kafkajs that we build on: its connections, authentication and wire protocol, below its public API.
 *
 * The public consumer cannot read without a group, and a group costs 3 s at every start, needs its own permissions and
 * leaves garbage behind; the public producer hides retries that outlive any deadline of ours. The package gets no
 * releases any more, so its internals no longer change. The exact version is checked here, so that another one fails
 * loudly instead of subtly.
 */
export interface Kafkajs {
  readonly Broker: new (options: BrokerOptions) => Broker;
  readonly ConnectionPool: new (options: ConnectionOptions) => ConnectionPool;
  readonly createLogger: (options: { level: number; logCreator: LogCreator }) => Logger;
  readonly apiKeys: Readonly<Record<ApiName | OwnApiName, number>>;
  readonly requests: Readonly<Record<ApiName, RequestDefinitions>>;
  readonly createErrorFromCode: (code: number) => ProtocolError;
  readonly Decoder: new (buffer: Buffer) => Decoder;
}

export const KAFKAJS_VERSION = '2.2.4';

export type ApiName = 'Produce' | 'Fetch' | 'ListOffsets' | 'Metadata' | 'CreateTopics' | 'DescribeConfigs';

/** What kafkajs does not know: it ends at key 46. */
export type OwnApiName = 'DescribeClientQuotas' | 'AlterClientQuotas';

const OWN_API_KEYS: Readonly<Record<OwnApiName, number>> = { DescribeClientQuotas: 48, AlterClientQuotas: 49 };

export interface Protocol {
  readonly request: { readonly apiVersion: number };
  readonly response: { decode(payload: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
}
/** A request that kafkajs frames, and the decoder of its answer. */
export interface KafkajsExchange {
  readonly request: Protocol['request'] | OwnEncoding;
  readonly response: { decode(payload: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
}
export interface OwnEncoding {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: ApiName | OwnApiName;
  /** kafkajs takes an object with this method for one of its encoders. */
  encode(): Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
}
export interface RequestDefinitions {
  readonly versions: readonly string[];
}
export interface Broker {
  /** The newest version per API key, as the broker has told them; null before it is connected. */
  readonly versions: Readonly<Record<number, { readonly maxVersion: number }>> | null;
  connect(): Promise<void>;
  lookupRequest(apiKey: number, definitions: RequestDefinitions): (args: object) => Protocol;
}
export interface ConnectionPool {
  /** Two connections: one for fetches, which the broker holds back, and one for everything else. */
  readonly pool: readonly KafkajsConnection[];
  send(exchange: KafkajsExchange): Promise<unknown>;
}
export interface KafkajsConnection {
  readonly socket?: Socket;
  readonly requestQueue: RequestQueue;
  send(exchange: KafkajsExchange): Promise<unknown>;
  isConnected(): boolean;
  rejectRequests(error: Error): void;
  disconnect(): Promise<unknown>;
}
export interface RequestQueue {
  readonly pending: readonly unknown[];
  /** Requests that were sent and have no answer yet, by their number. */
  readonly inflight: ReadonlyMap<number, unknown>;
  scheduleCheckPendingRequests(): void;
}
export interface SocketOptions {
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | Readonly<Record<string, unknown>> | null;
  readonly onConnect: () => void;
}
export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly clientId: string;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  readonly ssl: SocketOptions['ssl'];
  readonly sasl: Record<string, unknown> | null;
  readonly socketFactory: (options: SocketOptions) => Socket;
  readonly logger: Logger;
}
export interface BrokerOptions {
  readonly connectionPool: ConnectionPool;
  readonly logger: Logger;
  readonly allowAutoTopicCreation: boolean;
}
export interface Decoder {
  readInt8(): number;
  readInt16(): number;
  readInt32(): number;
  readInt64(): bigint;
  readString(): string | null;
  readBytes(): Buffer | null;
  readArray<T>(read: (decoder: Decoder) => T): T[];
  readonly buffer: Buffer;
  readonly offset: number;
}
export interface Logger {
  namespace(name: string): Logger;
}
export type LogCreator = (level: number) => (entry: LogEntry) => void;
export interface LogEntry {
  readonly namespace: string | undefined;
  readonly label: string;
  readonly log: Readonly<Record<string, unknown>> & { readonly message: string };
}
/** What a broker answers instead of a result; `type` is its name in Kafka's protocol. */
export interface ProtocolError extends Error {
  readonly type: string;
  readonly code: number;
}

export function loadKafkajs(requireModule: (name: string) => unknown = requireFromHere): Kafkajs {
  const version = installedVersion(requireModule);
  if (version !== null && version !== KAFKAJS_VERSION) {
    throw new QuotameshError('KAFKAJS_VERSION', { wanted: KAFKAJS_VERSION, found: version });
  }
  const Decoder = decoder as Kafkajs['Decoder'];
  boundArrays(Decoder.prototype);
  addCodecs((compression as { readonly Codecs: KafkajsCodecs }).Codecs);
  return {
    Broker: broker as Kafkajs['Broker'],
    ConnectionPool: connectionPool as Kafkajs['ConnectionPool'],
    createLogger: (loggers as Pick<Kafkajs, 'createLogger'>).createLogger,
    apiKeys: { ...(apiKeys as Kafkajs['apiKeys']), ...OWN_API_KEYS },
    requests: (requests as Pick<Kafkajs, 'requests'>).requests,
    createErrorFromCode: (errors as Pick<Kafkajs, 'createErrorFromCode'>).createErrorFromCode,
    Decoder,
  };
}

const LENGTH_BYTES = 4;
const BOUNDED = new WeakSet<object>();

/**
 * Refuses an array that claims more elements than bytes follow. kafkajs makes room for the claim first: 256 MB for four
 * bytes. Whatever could be read before still can be.
 */
function boundArrays(decoder: Decoder): void {
  if (BOUNDED.has(decoder)) return;
  BOUNDED.add(decoder);
  const { readArray } = decoder;
  decoder.readArray = function bounded<T>(this: Decoder, read: (from: Decoder) => T): T[] {
    const length = this.buffer.readInt32BE(this.offset);
    const left = this.buffer.length - this.offset - LENGTH_BYTES;
    if (length < -1 || length > left) throw new RangeError(`an array of ${length} elements in ${left} bytes`);
    return readArray.call(this, read) as T[];
  };
}

/** Null = it is in the same bundle as this code, and was chosen when that was made. */
function installedVersion(requireModule: (name: string) => unknown): string | null {
  try {
    return (requireModule('kafkajs/package.json') as { version: string }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}
