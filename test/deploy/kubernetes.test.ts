import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/files/load-config.js';
import { STOP_WITHIN_MS } from '../../src/tools/cli/run/run-node.js';
import { findKustomize, type Manifest, mistakesIn, rendered, WHAT_TO_INSTALL, written } from './kustomize.js';
import { configOf, folderOf, nodeOf } from './pod-config.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BASE = ['service-account', 'services', 'nodes', 'disruption-budget', 'network-policy'];
const FILES = [...BASE.map((name) => `base/${name}.yaml`), 'examples/sidecar/shop.yaml'];

describe('manifests as they are written', () => {
  test.each(FILES)('%s is what Kubernetes takes', (file) => {
    expect(written(file).flatMap(mistakesIn)).toEqual([]);
  });

  test('mistakes are found: a misspelled field, a wrong type, a missing one', () => {
    const [nodes] = written('base/nodes.yaml') as [Manifest];
    expect(mistakesIn({ ...nodes, spec: { ...nodes.spec, replica: 3 } })).toHaveLength(1);
    expect(mistakesIn({ ...nodes, spec: { ...nodes.spec, replicas: 'three' } })).not.toEqual([]);
    expect(mistakesIn({ ...nodes, spec: { ...nodes.spec, selector: undefined } })).toHaveLength(1);
  });

  test('the image is that of this version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const file of ['base/kustomization.yaml', 'components/sidecar/kustomization.yaml']) {
      expect(written(file)[0].images).toEqual([{ name: 'quotamesh', newTag: version }]);
    }
  });
});

const kustomize = findKustomize();

describe.skipIf(kustomize === null)(kustomize === null ? `rendered (${WHAT_TO_INSTALL})` : 'rendered', () => {
  test.each(['base', 'examples/kafka-sasl', 'examples/sidecar'])(
    '%s is what Kubernetes takes, and runs',
    async (folder) => {
      const manifests = rendered(kustomize!, folder);
      expect(manifests.flatMap(mistakesIn)).toEqual([]);
      const workload = manifests.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')!;
      const { metadata, spec } = workload.spec.template;
      expect(metadata.labels).toMatchObject(workload.spec.selector.matchLabels);
      for (const { kind, spec: other } of manifests) {
        if (kind === 'Service') expect(metadata.labels).toMatchObject(other.selector);
        if (kind === 'PodDisruptionBudget') expect(metadata.labels).toMatchObject(other.selector.matchLabels);
      }
      const container = nodeOf(workload);
      const volumes = spec.volumes.map(({ name }: Manifest['metadata']) => name);
      for (const mount of container.volumeMounts) {
        expect(volumes).toContain(mount.name);
        // Kubernetes does not swap what is mounted by subPath.
        expect(mount.subPath).toBeUndefined();
      }
      const config = await configOf(manifests, workload);
      expect(config).toMatchObject({ nodeId: 'pod-0', cluster: 'production', topic: { kind: 'kafka' } });
      expect(config.groups.length).toBeGreaterThan(0);
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    },
  );

  test('nodes of their own listen for everybody who has a token, those beside a service on loopback', async () => {
    const [base, sidecar] = ['base', 'examples/sidecar'].map((folder) => rendered(kustomize!, folder));
    const hostOf = async (all: readonly Manifest[]) => {
      return (await configOf(all, all.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')!)).http.host;
    };
    expect(await hostOf(base)).toBe('0.0.0.0');
    expect(await hostOf(sidecar)).toBe('127.0.0.1');
  });

  test('the ConfigMap keeps its name, so that a change restarts nobody', () => {
    expect(rendered(kustomize!, 'config').map(({ metadata }) => metadata.name)).toEqual(['quotamesh']);
  });
});

test('pods are killed only after a node could say farewell', () => {
  const { spec } = written('base/nodes.yaml')[0].spec.template;
  const [program, seconds] = spec.containers[0].lifecycle.preStop.exec.command;
  expect(program).toBe('sleep');
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + (2 * STOP_WITHIN_MS) / 1000);
});

test('the configuration is valid as it stands in the repository', async () => {
  const folder = join(root, 'deploy/kubernetes/config');
  const { kind, configMapGenerator } = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'));
  expect(kind).toBe('Kustomization');
  const files = configMapGenerator[0].files as string[];
  const config = await loadConfig({
    file: folderOf(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')])),
  });
  expect(config.cluster).toBe('production');
});
