import type { MetricRow } from './metric-table.js';

/** Metrics of YAML, the registry and templates of keys. */
export const GROUP_SOURCE_METRICS = {
  quotamesh_config_reloads_total: {
    type: 'counter',
    help: 'Configurations read after the start: taken, refused (a mistake; the groups stay as they were).',
    labels: ['outcome'],
  },
  quotamesh_config_refused: { type: 'gauge', help: '1 while the files of the configuration have a mistake.' },
  quotamesh_config_needs_restart: {
    type: 'gauge',
    help: 'Settings that the files have differently from what is in force; only a restart changes them.',
  },
  quotamesh_config_differing_groups: {
    type: 'gauge',
    help: 'Groups that the YAML of other nodes has otherwise, or not at all.',
  },
  quotamesh_config_hidden: {
    type: 'gauge',
    help: 'Groups, key templates and scopes of the files that definitions of run time hide: the files count no more there.',
  },
  quotamesh_groups: { type: 'gauge', help: 'Groups in force.', labels: ['origin'] },
  quotamesh_keys_live: { type: 'gauge', help: 'Keys in memory (keys.maxLive).', labels: ['template'] },
  quotamesh_keys_loud: {
    type: 'gauge',
    help: 'Keys that are groups like any other now, because this or another node uses more than what is spent without publishing it.',
    labels: ['template'],
  },
  quotamesh_keys_made_total: {
    type: 'counter',
    help: 'Keys that their first use has made here.',
    labels: ['template'],
  },
  quotamesh_keys_forgotten_total: {
    type: 'counter',
    help: 'Keys forgotten after their buckets were full again.',
    labels: ['template'],
  },
  quotamesh_keys_refused_total: {
    type: 'counter',
    help: 'Requests refused because there was no room for their key (keys.maxLive, keys.maxLoud).',
    labels: ['template'],
  },
  quotamesh_keys_over_quota_total: {
    type: 'counter',
    help: 'Requests refused by the quota of their key.',
    labels: ['template'],
  },
  quotamesh_keys_limits_refused_total: {
    type: 'counter',
    help: 'Limits that came with requests and were refused: by a caller who may not, above allowLimits, or no limits at all.',
    labels: ['template'],
  },
  quotamesh_keys_granted_unpublished_total: {
    type: 'counter',
    help: 'Requests granted of what this node may spend without telling others.',
    labels: ['template'],
  },
  quotamesh_registry_ready: {
    type: 'gauge',
    help: '1 when all that was in the registry at the start has been read, or there is none.',
  },
  quotamesh_registry_offset: {
    type: 'gauge',
    help: 'Offset after the last record read of the registry; the difference between nodes is how far one lags behind.',
  },
  quotamesh_registry_revision: { type: 'gauge', help: 'Revision of the newest change that was applied here.' },
  quotamesh_registry_changes_total: {
    type: 'counter',
    help: 'Changes asked for at this node, by outcome: made, late (somebody else was faster), invalid, unconfirmed, too-fast (429, registry.changesPerSecond).',
    labels: ['outcome'],
  },
  quotamesh_registry_change_seconds: {
    type: 'gauge',
    help: 'How long the last change that was asked for here took until the log had decided; 0 before the first.',
  },
  quotamesh_registry_applied_total: { type: 'counter', help: 'Changes of groups applied here, of all nodes.' },
  quotamesh_registry_refused_groups: { type: 'gauge', help: 'Groups whose definition this node cannot use.' },
  quotamesh_registry_records_ignored_total: {
    type: 'counter',
    help: 'Records of the registry that mean nothing here.',
  },
  quotamesh_registry_audited_changes: {
    type: 'gauge',
    help: 'Changes that GET /v1/audit can tell; registry.auditedChanges at most.',
  },
  quotamesh_registry_attachments: {
    type: 'gauge',
    help: 'Scopes that were attached at run time; at registry.maxAttachments one more is refused.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
