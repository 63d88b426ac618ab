import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { loadConfig } from '../../src/config/files/load-config.js';
import type { ResolvedConfig } from '../../src/config/resolved/resolved-config.js';
import type { Manifest } from './kustomize.js';

/** The container that runs a node. */
export function nodeOf({ spec }: Manifest) {
  const { containers, initContainers = [] } = spec.template.spec;
  return [...containers, ...initContainers].find(({ name }) => name === 'quotamesh');
}

/** As `quotamesh run` in the pod would read it: the ConfigMap as a folder, the environment, secrets as files. */
export async function configOf(manifests: readonly Manifest[], workload: Manifest): Promise<ResolvedConfig> {
  const { args, env, volumeMounts } = nodeOf(workload);
  const data = manifests.find(({ kind }) => kind === 'ConfigMap')!.data as Record<string, string>;
  expect(args).toEqual(['run', '--config', '/etc/quotamesh']);
  expect(volumeMounts).toContainEqual({ name: expect.any(String), mountPath: '/etc/quotamesh', readOnly: true });
  const secrets = folderOf([]);
  const variables = (env as EnvVar[]).map(({ name, value, valueFrom }) => {
    if (valueFrom?.fieldRef !== undefined) return [name, 'pod-0'];
    if (valueFrom?.secretKeyRef !== undefined) return [name, 'secret'];
    const path = /^\/etc\/quotamesh-\w+\/([\w.-]+)$/.exec(value ?? '')?.[1];
    if (path === undefined) return [name, value ?? ''];
    writeFileSync(join(secrets, path), SECRET_FILES[path]);
    return [name, join(secrets, path)];
  });
  const folder = folderOf(Object.entries(data));
  const config = await loadConfig({ file: folder, env: Object.fromEntries(variables) });
  for (const used of [secrets, folder]) rmSync(used, { recursive: true });
  return config;
}

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: object; readonly secretKeyRef?: object };
}

/** What the Secrets that the comments ask for would hold. */
const SECRET_FILES: Readonly<Record<string, string>> = {
  'ca.pem': '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n',
  password: 'secret\n',
  'tokens.yaml': `- { name: gateway, roles: [traffic], hash: "sha256:${'0'.repeat(64)}" }\n`,
};

export function folderOf(files: readonly (readonly [string, string])[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-kubernetes-'));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  return folder;
}
