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
 * Parts of kafkajs below its public API: connections, authentication, wire protocol. *Why:* its consumer needs a group,
 * which costs 3 s per start, permissions and garbage; its producer hides retries beyond our deadlines. No releases
 * follow, so internals stay; the exact version is checked.
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

/** APIs beyond kafkajs's, which end at key 46. */
export type OwnApiName = 'DescribeClientQuotas' | 'AlterClientQuotas';

const OWN_API_KEYS: Readonly<Record<OwnApiName, number>> = { DescribeClientQuotas: 48, AlterClientQuotas: 49 };

export interface Protocol {
  readonly request: { readonly apiVersion: number };
  readonly response: { decode(payload: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
}
/** Request that kafkajs frames, with its answer's decoder. */
export interface KafkajsExchange {
  readonly request: Protocol['request'] | OwnEncoding;
  readonly response: { decode(payload: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
}
export interface OwnEncoding {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: ApiName | OwnApiName;
  /** Makes kafkajs take the object for an encoder. */
  encode(): Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
}
export interface RequestDefinitions {
  readonly versions: readonly string[];
}
export interface Broker {
  /** Newest version per API key, by the broker; null = not connected. */
  readonly versions: Readonly<Record<number, { readonly maxVersion: number }>> | null;
  connect(): Promise<void>;
  lookupRequest(apiKey: number, definitions: RequestDefinitions): (args: object) => Protocol;
}
export interface ConnectionPool {
  /** Two connections: for fetches, which are held back, and for the rest. */
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
  /** Unanswered requests by number. */
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
/** Answer of a broker in place of a result; `type` is its name in Kafka's protocol. */
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

/** Refuses arrays with more elements than bytes. kafkajs would make room for them: 256 MB for four bytes. */
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

/** Returns the installed version; null = in the same bundle as this code. */
function installedVersion(requireModule: (name: string) => unknown): string | null {
  try {
    return (requireModule('kafkajs/package.json') as { version: string }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}
