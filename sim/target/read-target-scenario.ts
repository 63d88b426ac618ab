import type { ConfigPath, Findings } from '../../src/config/setting/findings.js';
import { show } from '../../src/config/setting/setting-text.js';
import { costUnits } from '../../src/core/target/cost-units.js';
import { readFields } from '../scenario/check-fields.js';
import type { ReadFields } from '../scenario/fields.js';
import { defaultSettings, readSettings } from '../scenario/world-settings.js';
import { checkKnown, type Known, readEntries, readQuotas } from './read-entries.js';
import { readPhases } from './read-phases.js';
import { BACKEND_FIELDS, CLIENT_FIELDS, TARGET_SCENARIO_FIELDS } from './target-fields.js';
import type { MockBackend, MockClient, TargetScenario } from './target-scenario.js';

/** Outermost keys that are mappings or lists. */
const TARGET_BESIDES = ['limiting', 'backends', 'groups', 'clients', 'phases'] as const;

/** Most clients: each is a node that reads all others. */
const CLIENTS_MAX = 200;

type Raw = Readonly<Record<string, unknown>>;

/** Reads a scenario of YAML; unusable with findings. */
export function readTargetScenario(raw: Raw, findings: Findings): TargetScenario {
  const { name, says } = readFields(findings, [], raw, TARGET_SCENARIO_FIELDS, TARGET_BESIDES);
  const settings = readSettings(findings, { limiting: raw.limiting }, 1);
  const backends = readBackends(findings, raw.backends);
  const groups = readQuotas(findings, ['groups'], raw.groups);
  checkUnique(findings, 'backends', backends);
  checkUnique(findings, 'groups', groups);
  const known = { groups: groups.map((one) => one.name), backends: backends.map((one) => one.name) };
  const clients = readClients(findings, raw.clients, known);
  const phases = readPhases(findings, raw.phases, known);
  return { name, says, settings, groups, backends, clients, phases };
}

function readBackends(findings: Findings, input: unknown): readonly MockBackend[] {
  return readEntries(findings, ['backends'], input, BACKEND_FIELDS).flatMap(({ values }) =>
    namesOf(values.name, values.count).map((name) => ({
      name,
      zone: values.zone ?? name,
      capacity: values.capacityPerSecond,
      target: values.target,
      spring: values.spring,
      followsMs: values.followsMs,
    })),
  );
}

function namesOf(name: string, count: number): readonly string[] {
  return count > 1 ? Array.from({ length: count }, (_, at) => `${name}-${at + 1}`) : [name];
}

function readClients(findings: Findings, input: unknown, known: Known): readonly MockClient[] {
  const clients = readEntries(findings, ['clients'], input, CLIENT_FIELDS).flatMap(({ at, values }) => {
    checkKnown(findings, [...at, 'group'], values.group, known.groups);
    const named = values.backends === 'all' ? known.backends : (values.backends ?? []);
    for (const name of named) checkKnown(findings, [...at, 'backends'], name, known.backends);
    const client = {
      group: values.group,
      wantedPerSecond: values.wantedPerSecond,
      units: unitsOf(findings, at, values),
      backends: named,
    };
    return Array.from({ length: values.count ?? 1 }, () => client);
  });
  if (clients.length >= 1 && clients.length <= CLIENTS_MAX) return clients;
  const allowed = `1 to ${CLIENTS_MAX} clients, counts included`;
  findings.add(['clients'], { problem: `must be ${allowed}, got ${clients.length}`, allowed, remedy: CLIENTS_REMEDY });
  return clients;
}

const CLIENTS_REMEDY = 'Every client is a node: let fewer of them want more.';
const AMOUNTS = ['units', 'readBytes', 'writtenBytes'] as const;

function unitsOf(findings: Findings, at: ConfigPath, values: ReadFields<typeof CLIENT_FIELDS>): number {
  const given = AMOUNTS.filter((key) => (values[key] ?? null) !== null);
  if (given.length > 0) {
    return costUnits(Object.fromEntries(given.map((key) => [key, values[key] as number])), FACTORS);
  }
  const allowed = `one of ${AMOUNTS.join(', ')} at least`;
  findings.add(at, { problem: `has no cost: it must name ${allowed}`, allowed, remedy: 'For example units: 1.' });
  return 0;
}

/** Default cost factors of nodes. */
const FACTORS = defaultSettings().costs as unknown as Parameters<typeof costUnits>[1];

function checkUnique(findings: Findings, key: string, entries: readonly { readonly name: string }[]): void {
  const seen = new Set<string>();
  for (const { name } of entries) {
    if (seen.has(name)) {
      const problem = `has ${show(name)} twice`;
      findings.add([key], { problem, allowed: 'different names', remedy: 'Rename one of them.' });
    }
    seen.add(name);
  }
}
