import type { Findings } from '../../src/config/setting/findings.js';
import { readFields } from './check-fields.js';
import { readExpectations } from './read-expectations.js';
import { readHappenings } from './read-happenings.js';
import { readLoads } from './read-loads.js';
import type { Scenario } from './scenario.js';
import { NETWORK_FIELDS, QUOTA_FIELDS, SCENARIO_FIELDS } from './scenario-fields.js';
import { readSettings } from './world-settings.js';

/** Reads a scenario of YAML; unusable with findings. */
export function readScenario(raw: unknown, findings: Findings): Scenario {
  const root = (raw ?? {}) as Readonly<Record<string, unknown>>;
  const own = readFields(findings, [], raw ?? {}, SCENARIO_FIELDS, BESIDES);
  const nodes = own.nodes ?? [];
  const durationMs = own.durationSeconds * 1000;
  const quota = readFields(findings, ['quota'], root.quota ?? {}, QUOTA_FIELDS);
  const network = readFields(findings, ['network'], root.network ?? {}, NETWORK_FIELDS);
  const played = { nodes, durationMs };
  return {
    name: own.name,
    says: own.says,
    durationMs,
    nodes,
    quota: { messagesPerSecond: quota.messagesPerSecond ?? Infinity, bytesPerSecond: quota.bytesPerSecond ?? Infinity },
    settings: readSettings(findings, root, network.partitions),
    written: { group: root.group ?? {}, timing: root.timing ?? {} },
    delays: network,
    faults: network,
    loads: readLoads(findings, root.load, played),
    happenings: readHappenings(findings, root.happenings, played),
    settleMs: own.settleSeconds * 1000,
    settlePointsMs: own.settlePoints?.map((at) => at * 1000) ?? null,
    expectations: readExpectations(findings, root.expect),
  };
}

const BESIDES = ['quota', 'network', 'group', 'timing', 'load', 'happenings', 'expect'] as const;
