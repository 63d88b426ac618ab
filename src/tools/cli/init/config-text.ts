import { SHORT_UNIT } from '../../../config/setting/quantity.js';
import { rateKey } from '../../../config/setting/written-rate.js';
import type { FirstQuota } from './answers.js';
import { type Meeting, meetingLines, meetingText, plain } from './meetings.js';

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
    ...(meeting.addresses.length === 0 ? [] : START),
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

const HEAD = [
  '# The configuration of quotamesh nodes. All nodes of a cluster read the same file; flags give the name and the port of',
  '# each node: quotamesh run --config FILE --node b --http 127.0.0.1:7071',
  '# Every setting, with its gain and its cost: docs/reference/settings.md in the package.',
];

const START = [
  '',
  '# A node that starts while the topic is away decides after 3 s with quota / nodes; without this it waits.',
  '# start: { policy: alone, nodeCount: 3 }',
];

const HTTP = [
  '# The address for services, status, top and metrics. Beyond this machine it needs auth:',
  '# (quotamesh token new --help).',
  '# http: { host: 127.0.0.1, port: 7070 }',
];

function groupLines(quota: FirstQuota): readonly string[] {
  return [
    '# A group has a quota. All nodes together admit so much, at whichever node callers ask; busy nodes get the parts that',
    '# others leave. Groups may also be made and changed while nodes run: quotamesh group --help.',
    'groups:',
    `  ${plain(quota.name)}:`,
    '    quota:',
    '      publish:',
    `        ${rateText(quota)}`,
    ...(quota.dimension === 'messages' ? ['        # bytesPerSecond: 1MiB'] : ['        # messagesPerSecond: 1000']),
    ...(quota.dimension === 'messages' && quota.per === 'second' ? BURST : []),
    '    # While the topic is away, each node goes on with quota / nodes known last; with closed it refuses.',
    '    # isolation: { policy: equal-share }',
  ];
}

/** A quota per minute, hour or day is its own burst. */
const BURST = ['    # The number that may pass at once after an idle time.', '    # burst: { messages: 100 }'];

function keyLines(quota: FirstQuota): readonly string[] {
  return [
    '# Every name like this has a quota of its own in the whole cluster; its first use at any node makes the group.',
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
  '    # Names with another quota than all others.',
  '    # overrides: { acme: { quota: { publish: { messagesPerSecond: 6000/min } } } }',
];

function rateText({ dimension, amount, per }: FirstQuota): string {
  return `${rateKey(dimension)}: ${amount}${per === 'second' ? '' : `/${SHORT_UNIT[per]}`}`;
}
