import type { TopicKind } from '../../../config/schema/topic-kinds.js';

/** Meeting place of nodes. */
export interface Meeting extends Place {
  readonly kind: MeetingKind;
}

interface Place {
  /** Each host:port; none = a folder. */
  readonly addresses: readonly string[];
  /** Answer to the kind's further flag. */
  readonly name: string;
}

/** The kinds with servers, in words. */
interface Servers {
  readonly labels: string;
  readonly examples: string;
}

/** A kind of topic as `init` offers it. Its flag has its name. */
interface MeetingRow {
  /** In texts: `Kafka`. */
  readonly label: string;
  /** Value of its flag; null = a switch. */
  readonly takes: string | null;
  readonly says: string;
  readonly further?: { readonly flag: string; readonly takes: string; readonly says: string; readonly default: string };
  /** Beginnings of its answers. */
  readonly schemes: readonly string[];
  /** Line of the question: an answer, and its meaning. */
  readonly question: readonly [answer: string, meaning: string];
  /** For those who chose a folder; absent = none. */
  readonly example?: string;
  /** A package to install. */
  readonly needs?: string;
  /** Lines of the file below `topic:`, with its comment above. */
  lines(place: Place, servers: Servers): { readonly comment: readonly string[]; readonly keys: readonly string[] };
}

const rows = {
  embedded: {
    label: 'the folder ./state',
    takes: null,
    says: 'the nodes of this machine meet in a folder beside the file',
    schemes: [],
    question: ['Enter', 'in a folder, all on this machine: nothing else has to run'],
    needs: 'lmdb',
    lines: (_, { labels, examples }) => ({
      comment: [
        `# The nodes meet in a folder, for the processes of one machine. Nodes of several machines meet in a ${labels}:`,
        `# ${examples}.`,
      ],
      keys: ['path: ./state'],
    }),
  },
  kafka: {
    label: 'Kafka',
    takes: '<brokers>',
    says: 'the nodes meet in this Kafka, host:port,…',
    further: {
      flag: 'topic',
      takes: '<name>',
      says: 'the topic in Kafka (default: quotamesh-reports)',
      default: 'quotamesh-reports',
    },
    schemes: ['kafka://'],
    question: ['kafka-1:9092,…', 'in a Kafka'],
    example: '{ kind: kafka, brokers: ["kafka-1:9092"] }',
    lines: ({ addresses, name }) => ({
      comment: [
        '# The nodes meet in two compacted topics of a Kafka: this one, and one of its name with -registry behind it. Missing',
        '# topics are created if Kafka lets the nodes; docs/operate/kafka-security.md has the rights.',
      ],
      keys: [
        `brokers: ${listText(addresses)}`,
        `name: ${plain(name)}`,
        '# Encryption, a name and a password; QUOTAMESH_TOPIC_SASL_PASSWORD keeps the password out of this file:',
        '# tls: true',
        '# sasl: { mechanism: scram-sha-512, username: quotamesh, password: change-me }',
      ],
    }),
  },
  redis: {
    label: 'Redis',
    takes: '<addresses>',
    says: 'the nodes meet in this Redis, host:port',
    schemes: ['redis://', 'rediss://'],
    question: ['redis://127.0.0.1:6379', 'in a Redis'],
    example: '{ kind: redis, addresses: ["redis-1:6379"] }',
    lines: ({ addresses }) => ({
      comment: ['# The nodes meet in one Redis, or in the master that Sentinels name (docs/operate/redis.md).'],
      keys: [`addresses: ${listText(addresses)}`, '# password: change-me'],
    }),
  },
} as const satisfies { readonly [Kind in TopicKind]?: MeetingRow };

export type MeetingKind = keyof typeof rows;

/** The kinds of topic that `init` offers: a new one is a row here, and all else of `init` follows. */
export const MEETINGS: Readonly<Record<MeetingKind, MeetingRow>> = rows;
export const MEETING_KINDS = Object.keys(rows) as readonly MeetingKind[];
export const DEFAULT_MEETING: Meeting = { kind: 'embedded', addresses: [], name: '' };
/** Kind of addresses without a scheme. */
const PLAIN_ADDRESSES = 'kafka';

const WITH_SERVERS = MEETING_KINDS.map((kind) => MEETINGS[kind]).filter(({ example }) => example !== undefined);
const SERVERS: Servers = {
  labels: WITH_SERVERS.map(({ label }) => label).join(' or '),
  examples: WITH_SERVERS.map(({ example }) => example).join(' or '),
};

/** Reads an answer: `kafka-1:9092,kafka-2:9092`, `redis://127.0.0.1:6379`, or nothing. */
export function meetingOf(answer: string): Meeting {
  const text = answer.trim();
  if (text === '') return DEFAULT_MEETING;
  for (const kind of MEETING_KINDS) {
    const scheme = MEETINGS[kind].schemes.find((each) => text.startsWith(each));
    if (scheme !== undefined) return meetingAt(kind, text.slice(scheme.length).replace(/\/$/, ''));
  }
  return meetingAt(PLAIN_ADDRESSES, text);
}

export function meetingAt(kind: MeetingKind, addresses: string, name = MEETINGS[kind].further?.default ?? ''): Meeting {
  const listed = addresses.split(',').map((each) => each.trim());
  return { kind, addresses: listed.filter((each) => each !== ''), name };
}

export function meetingText({ kind, addresses }: Meeting): string {
  const { label } = MEETINGS[kind];
  return addresses.length === 0 ? label : `${label} (${addresses.join(', ')})`;
}

export function meetingLines(meeting: Meeting): readonly string[] {
  const { comment, keys } = MEETINGS[meeting.kind].lines(meeting, SERVERS);
  return [...comment, 'topic:', `  kind: ${meeting.kind}`, ...keys.map((key) => `  ${key}`)];
}

function listText(addresses: readonly string[]): string {
  return `[${addresses.map((each) => JSON.stringify(each)).join(', ')}]`;
}

/** Quotes a text unless YAML reads it the same without. */
export function plain(text: string): string {
  return /^[A-Za-z][A-Za-z0-9_-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
