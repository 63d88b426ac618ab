import type { NodeStatus } from '../../node/api/node-status.js';
import type { MetricRow } from './metric-table.js';
import type { Reading } from './metric-tables.js';

/** Metrics of signed records (topic.hmac). */
export const SIGNATURE_METRICS = {
  quotamesh_topic_verified_records_total: {
    type: 'counter',
    help: 'Records read that this cluster has signed, by key: key, next-key, previous-key.',
    labels: ['log', 'signer'],
  },
  quotamesh_topic_unverified_records_total: {
    type: 'counter',
    help: 'Records read that this cluster has not signed: unsigned, unknown-key, wrong-signature. Ignored with topic.hmac.verify: require.',
    labels: ['log', 'cause'],
  },
  quotamesh_topic_unverified_keys: {
    type: 'gauge',
    help: 'Keys of the topic whose newest record is signed with no key of ours (signer none), or with the previous one; at most 10,000 are counted.',
    labels: ['log', 'signer'],
  },
  quotamesh_topic_signed_apart: {
    type: 'gauge',
    help: '1 while other nodes write and none of them signs as this one does: this node is not ready, or isolated. Look at topic.hmac.key.',
    labels: ['log'],
  },
  quotamesh_topic_strangers: {
    type: 'gauge',
    help: 'How many nodes write to the topic of the reports and do not sign as this one does.',
    labels: ['log'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

export function signatureReadings(status: () => NodeStatus): Readonly<Record<keyof typeof SIGNATURE_METRICS, Reading>> {
  return {
    quotamesh_topic_verified_records_total: (series) => {
      for (const { log, verified } of status().signatures) {
        for (const [signer, count] of Object.entries(verified)) series(count, { log, signer });
      }
    },
    quotamesh_topic_unverified_records_total: (series) => {
      for (const { log, unverified } of status().signatures) {
        for (const [cause, count] of Object.entries(unverified)) series(count, { log, cause });
      }
    },
    quotamesh_topic_signed_apart: (series) => {
      for (const { log, isApart } of status().signatures) series(isApart ? 1 : 0, { log });
    },
    quotamesh_topic_strangers: (series) => {
      for (const { log, strangers } of status().signatures) series(strangers, { log });
    },
    quotamesh_topic_unverified_keys: (series) => {
      for (const { log, unverifiedKeys, previousKeys } of status().signatures) {
        series(unverifiedKeys, { log, signer: 'none' });
        series(previousKeys, { log, signer: 'previous-key' });
      }
    },
  };
}
