/** Keys of PIP-82 and of Pulsar as shipped, and what stands for them here. For messages and docs/reference/settings.md. */
export interface ForeignKey {
  readonly key: string;
  readonly from: 'PIP-82' | 'Pulsar';
  /** Our keys. */
  readonly ours: string;
  readonly explanation: string;
}

const EVENT_DRIVEN =
  'There is no publish interval: a report is written at once when others would decide otherwise by it, at most every ' +
  '`timing.reportGapMs`; unchanged ones are repeated every `timing.forcedReportMs`; `timing.heartbeatMs` is the sign ' +
  'of life of a node.';

export const FOREIGN_KEYS: readonly ForeignKey[] = [
  {
    key: 'resourceUsagePublishTopicName',
    from: 'PIP-82',
    ours: 'topic.name',
    explanation: 'The name of a compacted Kafka topic (with `topic.kind: kafka`).',
  },
  {
    key: 'resourceUsagePublishToTopic',
    from: 'PIP-82',
    ours: 'topic.kind',
    explanation:
      'Nodes that share a quota always publish. `kind: memory` keeps a node to itself (false); ' +
      '`embedded`, `kafka` and `redis` share (true).',
  },
  {
    key: 'resourceUsagePublishIntervalInSecs',
    from: 'PIP-82',
    ours: 'timing.reportGapMs, timing.forcedReportMs',
    explanation: EVENT_DRIVEN,
  },
  {
    key: 'resourceUsageTransportClassName',
    from: 'Pulsar',
    ours: 'topic.kind',
    explanation: 'Empty (off) is `kind: memory`; the topic transport is `kind: kafka`.',
  },
  {
    key: 'resourceUsageTransportPublishIntervalInSecs',
    from: 'Pulsar',
    ours: 'timing.reportGapMs, timing.forcedReportMs',
    explanation: EVENT_DRIVEN,
  },
  ...['publish', 'dispatch'].flatMap((direction): ForeignKey[] => [
    {
      key: `${direction}RateInMsgs`,
      from: 'Pulsar',
      ours: `quota.${direction}.messagesPerSecond`,
      explanation: 'Absent is unlimited (Pulsar: -1); 0 blocks.',
    },
    {
      key: `${direction}RateInBytes`,
      from: 'Pulsar',
      ours: `quota.${direction}.bytesPerSecond`,
      explanation: 'Absent is unlimited (Pulsar: -1); 0 blocks.',
    },
  ]),
];
