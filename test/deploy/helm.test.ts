import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { STOP_WITHIN_MS } from '../../src/tools/cli/run/run-node.js';
import { CHART, HELM_IS_MISSING, hasHelm, rendered } from './helm.js';
import { type Manifest, mistakesIn } from './kustomize.js';
import { configOf, nodeOf } from './pod-config.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
/** What the Secret of the chart holds, as the manifests' own test has it. */
const TOKEN = [
  'auth.tokens[0].name=shop',
  'auth.tokens[0].roles={traffic}',
  `auth.tokens[0].hash=sha256:${'0'.repeat(64)}`,
];

describe('the chart as it is written', () => {
  test('its values are what its schema takes, and a misspelled one is not', () => {
    const validate = new Ajv2020({ strict: false }).compile(schema);
    validate(values);
    expect(validate.errors).toBeNull();
    expect(validate({ ...values, replica: 3 })).toBe(false);
    expect(validate({ ...values, replicas: 0 })).toBe(false);
  });

  test('every value has a default and a description', () => {
    const described = pathsOf(schema).filter((path) => path !== 'global');
    expect(described.filter((path) => defaultOf(path) === undefined)).toEqual([]);
    expect(Object.keys(values).filter((name) => schema.properties[name] === undefined)).toEqual([]);
  });

  test('its version, and that of the image, is that of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
  });
});

const isThere = hasHelm();

describe.skipIf(!isThere)(isThere ? 'the chart, rendered' : `the chart, rendered (${HELM_IS_MISSING})`, () => {
  test('helm lint finds nothing', () => {
    const said = execFileSync('helm', ['lint', '--strict', CHART, '--set', 'auth.insecure=true'], { encoding: 'utf8' });
    expect(said).toContain('0 chart(s) failed');
  });

  test.each([
    ['with tokens of its own', TOKEN],
    ['with your Secret, and SASL', ['auth.existingSecret=mine', 'kafka.sasl.existingSecret=kafka']],
    ['without tokens', ['auth.insecure=true', 'networkPolicy.monitoringNamespace=']],
  ])('%s it is what Kubernetes takes, and a node starts with it', async (_, sets) => {
    const manifests = rendered(...sets);
    expect(manifests.flatMap(mistakesIn)).toEqual([]);
    const workload = manifests.find(({ kind }) => kind === 'StatefulSet')!;
    const labels = workload.spec.template.metadata.labels;
    for (const { kind, spec } of manifests) {
      if (kind === 'Service') expect(labels).toMatchObject(spec.selector);
      if (kind === 'PodDisruptionBudget') expect(labels).toMatchObject(spec.selector.matchLabels);
      if (kind === 'NetworkPolicy') expect(labels).toMatchObject(spec.podSelector.matchLabels);
    }
    expect(await configOf(manifests, workload)).toMatchObject({
      nodeId: 'pod-0',
      cluster: 'production',
      http: { host: '0.0.0.0' },
      groups: [{ name: 'orders' }],
    });
  });

  test('without a word on who may ask it says what to set', () => {
    expect(() => rendered()).toThrow('Who may ask? Set auth.tokens');
    expect(() => rendered('auth.insecure=true', 'replcas=3')).toThrow('replcas');
  });

  test('a change of groups restarts nobody, one of the configuration does', () => {
    const podOf = (...sets: string[]) => podIn(rendered('auth.insecure=true', ...sets));
    expect(podOf('groups.orders.quota.publish.messagesPerSecond=7')).toEqual(podOf());
    expect(podOf('config.timing.stalenessMs=6000')).not.toEqual(podOf());
  });

  test('pods are killed only after a node could say farewell', () => {
    const { spec } = podIn(rendered('auth.insecure=true', 'drainSeconds=20'));
    const [, seconds] = spec.containers[0].lifecycle.preStop.exec.command;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + (2 * STOP_WITHIN_MS) / 1000);
  });

  test('a container has the rights that the manifests give it', () => {
    const container = nodeOf(rendered('auth.insecure=true').find(({ kind }) => kind === 'StatefulSet')!);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});

function podIn(manifests: readonly Manifest[]) {
  return manifests.find(({ kind }) => kind === 'StatefulSet')!.spec.template;
}

/** Paths of what has a description: what has none is described by its parts. */
function pathsOf({ properties = {} }: { readonly properties?: Record<string, object> }, before = ''): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    return 'description' in field ? [`${before}${name}`] : pathsOf(field, `${before}${name}.`);
  });
}

function defaultOf(path: string): unknown {
  return path.split('.').reduce<unknown>((within, name) => (within as Record<string, unknown>)?.[name], values);
}
