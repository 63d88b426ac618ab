import type { ErrorCode } from '../../base/errors/catalogue.js';
import { isMapping } from '../../base/input/mapping.js';
import type { ReadRecord, ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ConfigPath, FoundMistake } from './findings.js';
import type { Members, ValueOf } from './section.js';
import { valueAt } from './setting-value.js';
import type { Sound, TextsRead } from './text-file.js';

/** The logs of a cluster: each kind of topic says where they lie. */
export type Log = 'reports' | 'registry' | 'strict' | 'kafka-quotas';

/** A kind of topic: what it is told, what it needs of that, and how its logs are opened. */
export interface TopicKindOf<Own extends Members, Constants extends object, Config extends object> {
  /** Completes `kafka: …` in the text of `topic.kind`. */
  readonly says: string;
  /** Says who shares quotas by it: nobody, nodes of one process, or nodes of any processes. */
  readonly sharedBy: 'nobody' | 'process' | 'processes';
  readonly settings: Own;
  /** Times and bounds that nobody sets, merged into what the adapter takes. */
  readonly constants: Constants;
  /** Fills in what follows from other settings if it is not written. */
  readonly complete?: (read: SoundOf<Own>, context: KindContext) => SoundOf<Own>;
  /** Checks what its keys ask of each other. */
  readonly check?: (read: SoundOf<Own>, mistakes: KindMistakes, written: unknown) => void;
  /** Makes what the adapter takes; without mistakes every field is there. */
  readonly configOf: (read: TextsRead<ValueOf<Own>>) => Config;
  /** Names a log as its store does. */
  readonly nameOf?: (config: Config & Constants, log: Log) => string;
  /** Makes a log of the cluster, not opened yet; null where the registry has none. Loads its client itself. */
  readonly open: (config: Config & Constants, opening: Opening) => Promise<ReportTopic | null>;
  /** Examines its topic for `quotamesh doctor`, and changes nothing there. Loads its client itself. */
  readonly examine: (config: Config & Constants, visit: Visit) => Promise<ExaminedTopic>;
  /** Reads the newest records until one is enough; absent = by opening it. For kinds whose opening changes the log. */
  readonly readNewest?: (config: Config & Constants, cluster: string, reading: NewestReading) => Promise<void>;
  /** Says why strict groups cannot be kept by it; null = nothing that it has acknowledged is ever lost. */
  readonly strictLacks: string | null;
  /** True = a node may lack the codec of a record: the doctor reads them all. */
  readonly hasCodecs?: true;
}

/** A kind, for whoever treats all alike. */
export interface AnyTopicKind extends Omit<TopicKindOf<Members, object, object>, 'complete' | 'check' | 'configOf'> {
  readonly complete?: (read: object, context: KindContext) => object;
  readonly check?: (read: object, mistakes: KindMistakes, written: unknown) => void;
  readonly configOf: (read: object) => object;
}

export type SoundOf<Own extends Members> = Sound<TextsRead<ValueOf<Own>>>;

interface KindContext {
  readonly written: unknown;
  /** Start of relative paths. */
  readonly folder: string;
  readonly nodeId: unknown;
}

/** Takes mistakes of keys below `topic`. */
export interface KindMistakes {
  add(path: ConfigPath, finding: FoundMistake): void;
  /** Adds one if the key has no value. */
  require(key: string, when: string): void;
  remedyOf(key: string): string;
}

export interface Visit {
  readonly cluster: string;
  /** Logs that the configuration requires. */
  readonly logs: readonly Log[];
  readonly timeoutMs: number;
}

export interface ExaminedTopic {
  readonly findings: readonly Finding[];
  /** False = nothing that needs the store can be looked at. */
  readonly isAnswered: boolean;
  /** True = the log of reports is there and sound: opening it would make nothing. */
  readonly hasReports: boolean;
}

/** Finding of the doctor about one thing. */
export interface Finding {
  readonly about: string;
  /** noted: nodes work, but somebody may want to know; skipped: unknown. */
  readonly state: 'good' | 'noted' | 'wrong' | 'skipped';
  readonly says: string;
  readonly code: ErrorCode | null;
  readonly remedy: string | null;
}

export interface NewestReading {
  /** Takes a record; true = no more are needed. */
  readonly isEnough: (record: ReadRecord) => boolean;
  /** Ends the reading at once. */
  readonly stopped: AbortSignal;
}

interface Opening {
  readonly cluster: string;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

export function topicKind<const Own extends Members, Constants extends object, Config extends object>(
  kind: TopicKindOf<Own, Constants, Config>,
): TopicKindOf<Own, Constants, Config> {
  return kind;
}

/** Turns TLS on if any of its keys is written. A written `tls.enabled` goes before. */
export function withEnabled<Tls extends { readonly enabled: boolean | undefined }>(tls: Tls, written: unknown): Tls {
  const isAsked = tls.enabled === false && valueAt(written, 'tls.enabled') === undefined;
  return isAsked ? { ...tls, enabled: isMapping(valueAt(written, 'tls')) } : tls;
}

/** A certificate and its key need each other. */
export function checkTls({ key, cert }: { readonly key: unknown; readonly cert: unknown }, { require }: KindMistakes) {
  if (typeof key === 'string') require('tls.cert', 'with tls.key');
  if (typeof cert === 'string') require('tls.key', 'with tls.cert');
}

/** Makes the options of Node.js's tls.connect; false = no TLS. */
export function tlsOf({
  enabled,
  ...options
}: Readonly<Record<string, unknown>>): boolean | Readonly<Record<string, unknown>> {
  return enabled === true && given(options);
}

/** Without the keys that have no value. */
export function given<Value>(options: Readonly<Record<string, Value | null>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(options).filter((entry): entry is [string, Value] => entry[1] !== null));
}

/** Log lines of an adapter name it, and its log. */
export function logsOf({ telemetry, log }: Opening, kind: string): Telemetry {
  const component = log === 'reports' ? kind : `${kind}-${log}`;
  return { log: (level, message, facts) => telemetry.log(level, message, { component, ...facts }) };
}
