import type { NodeStatus } from '../../node/api/node-status.js';
import type { KeyCounts } from '../../node/groups/keys/key-book.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import type { Reading } from './metric-tables.js';
import type { GROUP_SOURCE_METRICS } from './registry-metric-table.js';

type UsedParts = Pick<NodeParts, 'groups' | 'keys' | 'attachments' | 'registry'>;

export function groupSourceReadings(
  node: UsedParts,
  status: () => NodeStatus,
): Readonly<Record<keyof typeof GROUP_SOURCE_METRICS, Reading>> {
  const changes = () => Object.entries(node.registry?.changes ?? {});
  return {
    quotamesh_config_reloads_total: (series) => {
      const { taken, refused } = status().configuration;
      series(taken, { outcome: 'taken' });
      series(refused, { outcome: 'refused' });
    },
    quotamesh_config_refused: (series) => series(status().configuration.refusedBecause === null ? 0 : 1),
    quotamesh_config_needs_restart: (series) => series(status().configuration.needsRestart.length),
    quotamesh_config_differing_groups: (series) => series(status().configuration.differingGroups),
    quotamesh_config_hidden: (series) => series(status().configuration.hiddenByRunTime),
    quotamesh_groups: (series) => {
      const { groups } = status().registry;
      series(groups, { origin: 'run-time' });
      series(Math.max(0, node.groups.numbers.size - groups), { origin: 'yaml' });
    },
    quotamesh_keys_live: perTemplate(node, 'live'),
    quotamesh_keys_loud: perTemplate(node, 'loud'),
    quotamesh_keys_made_total: perTemplate(node, 'made'),
    quotamesh_keys_forgotten_total: perTemplate(node, 'forgotten'),
    quotamesh_keys_refused_total: perTemplate(node, 'refused'),
    quotamesh_keys_over_quota_total: perTemplate(node, 'overQuota'),
    quotamesh_keys_limits_refused_total: perTemplate(node, 'limitsRefused'),
    quotamesh_keys_granted_unheard_total: perTemplate(node, 'granted'),
    quotamesh_registry_ready: (series) => series(status().registry.ready ? 1 : 0),
    quotamesh_registry_offset: (series) => series(status().registry.offset),
    quotamesh_registry_revision: (series) => series(node.registry?.revision ?? 0),
    quotamesh_registry_changes_total: (series) => {
      for (const [outcome, count] of changes()) series(count, { outcome });
    },
    quotamesh_registry_change_seconds: (series) => series((node.registry?.lastChangeMs ?? 0) / 1000),
    quotamesh_registry_applied_total: (series) => series(node.registry?.applied ?? 0),
    quotamesh_registry_refused_groups: (series) => series(status().registry.refused.length),
    quotamesh_registry_records_ignored_total: (series) => series(status().registry.recordsIgnored),
    quotamesh_registry_audited_changes: (series) => series(node.registry?.audited ?? 0),
    quotamesh_registry_attachments: (series) => series(node.attachments.size),
  };
}

function perTemplate({ keys }: Pick<UsedParts, 'keys'>, count: keyof KeyCounts): Reading {
  return (series) => {
    for (const [template, counts] of keys?.counts ?? []) series(counts[count], { template });
  };
}
