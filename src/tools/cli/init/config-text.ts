import { SHORT_UNIT } from '../../../config/setting/quantity.js';
import { rateKey } from '../../../config/setting/written-rate.js';
import type { FirstQuota, Meeting } from './answers.js';

export interface Answers {
  readonly cluster: string;
  readonly meeting: Meeting;
  readonly quota: FirstQuota;
}

/**
 * Writes the configuration, with comments for first readers; commented settings are valid without their `#`. @param
 * schema path of the editors' schema from the file; null = the package is not installed beside it
 */
export function configText({ cluster, meeting, quota }: Answers, schema: string | null): string {
  return `${[
    ...(schema === null ? [] : [`# yaml-language-server: $schema=${schema}`]),
    ...HEAD,
    '',
    '# Nodes of clusters with other names do not see each other.',
    `cluster: ${plain(cluster)}`,
    '',
    ...meetingLines(meeting),
    ...(meeting.kind === 'embedded' ? [] : START),
    '',
    ...HTTP,
    '',
    ...(quota.of === 'group' ? groupLines(quota) : keyLines(quota)),
  ].join('\n')}\n`;
}

export function answersText({ cluster, meeting, quota }: Answers): string {
  const { of, name, amount, per, dimension } = quota;
  const rate = `${amount}/${SHORT_UNIT[per]}${dimension === 'bytes' ? '' : ' messages'}`;
  const whose = of === 'group' ? `for the group ${name}` : `for each key ${name}`;
  return `cluster ${cluster}, ${rate} ${whose}, nodes meet in ${meetingText(meeting)}`;
}

function meetingText(meeting: Meeting): string {
  if (meeting.kind === 'embedded') return 'the folder ./state';
  const where = meeting.kind === 'kafka' ? meeting.brokers : meeting.addresses;
  return `${meeting.kind === 'kafka' ? 'Kafka' : 'Redis'} (${where.join(', ')})`;
}

const HEAD = [
  '# What a node of quotamesh runs with. All nodes of a cluster read the same file; what differs, as the name of the node',
  '# and its port, is said by flags: quotamesh run --config FILE --node b --http 127.0.0.1:7071',
  '# Every setting, with what it buys and costs: docs/reference/settings.md in the package.',
];

const START = [
  '',
  '# A node that starts while the topic is away decides after 3 s with quota / nodes; without this it waits.',
  '# start: { policy: alone, nodeCount: 3 }',
];

const HTTP = [
  '# Where services ask, and where status, top and metrics are answered. Beyond this machine it needs auth:',
  '# (quotamesh token new --help).',
  '# http: { host: 127.0.0.1, port: 7070 }',
];

function meetingLines(meeting: Meeting): readonly string[] {
  switch (meeting.kind) {
    case 'embedded':
      return [
        '# Where the nodes meet: a folder, for the processes of one machine. Nodes of several machines meet in a Kafka or Redis:',
        '# { kind: kafka, brokers: ["kafka-1:9092"] } or { kind: redis, addresses: ["redis-1:6379"] }.',
        'topic:',
        '  kind: embedded',
        '  path: ./state',
      ];
    case 'kafka':
      return [
        '# Where the nodes meet: two compacted topics of a Kafka, this one and the same with -registry behind it. They are',
        '# created where they are missing and Kafka lets the nodes; docs/operate/kafka-security.md has the rights.',
        'topic:',
        '  kind: kafka',
        `  brokers: ${listText(meeting.brokers)}`,
        `  name: ${plain(meeting.topic)}`,
        '  # Encrypted, and with a name and password that QUOTAMESH_TOPIC_SASL_PASSWORD keeps out of this file:',
        '  # tls: true',
        '  # sasl: { mechanism: scram-sha-512, username: quotamesh, password: change-me }',
      ];
    case 'redis':
      return [
        '# Where the nodes meet: one Redis, or the master that Sentinels name (docs/operate/redis.md).',
        'topic:',
        '  kind: redis',
        `  addresses: ${listText(meeting.addresses)}`,
        '  # password: change-me',
      ];
  }
}

function groupLines(quota: FirstQuota): readonly string[] {
  return [
    '# A group is what a quota is for. All nodes together admit so much, wherever it is asked for; who is busy gets what',
    '# others leave. Groups may also be made and changed while nodes run: quotamesh group --help.',
    'groups:',
    `  ${plain(quota.name)}:`,
    '    quota:',
    '      publish:',
    `        ${rateText(quota)}`,
    ...(quota.dimension === 'messages' ? ['        # bytesPerSecond: 1MiB'] : ['        # messagesPerSecond: 1000']),
    ...(quota.dimension === 'messages' && quota.per === 'second' ? BURST : []),
    '    # While the topic is away, each node goes on with quota / nodes known last; closed refuses instead.',
    '    # isolation: { policy: equal-share }',
  ];
}

/** A quota per minute, hour or day is its own burst. */
const BURST = ['    # So many may pass at once when the group has been idle.', '    # burst: { messages: 100 }'];

function keyLines(quota: FirstQuota): readonly string[] {
  return [
    '# Every name like this has a quota of its own in the whole cluster: its first use at any node makes it.',
    'keys:',
    `  ${plain(quota.name)}:`,
    '    quota:',
    '      publish:',
    `        ${rateText(quota)}`,
    ...(/^[^{]*\{[^{}]+\}[^{]*$/.test(quota.name) ? OVERRIDES : []),
    '',
    '# Quotas of names that are written down.',
    '# groups: { everybody: { quota: { publish: { messagesPerSecond: 10k } } } }',
  ];
}

/** Overrides by the value of the pattern's only field. */
const OVERRIDES = [
  '    # Who has another quota than all others.',
  '    # overrides: { acme: { quota: { publish: { messagesPerSecond: 6000/min } } } }',
];

function rateText({ dimension, amount, per }: FirstQuota): string {
  return `${rateKey(dimension)}: ${amount}${per === 'second' ? '' : `/${SHORT_UNIT[per]}`}`;
}

function listText(addresses: readonly string[]): string {
  return `[${addresses.map((each) => JSON.stringify(each)).join(', ')}]`;
}

/** Quotes a text unless YAML reads it the same without. */
function plain(text: string): string {
  return /^[A-Za-z][A-Za-z0-9_-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
