import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseAllDocuments } from 'yaml';

const FOLDER = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));

/** A manifest, as far as the tests look into it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: of every kind another
  readonly [key: string]: any;
}

export const WHAT_TO_INSTALL =
  'neither kustomize nor kubectl is here: manifests are checked as they are written, not as they are rendered';

/** `kustomize build` or `kubectl kustomize`; null where there is neither. */
export function findKustomize(): readonly string[] | null {
  for (const [command, verb, asked] of [
    ['kustomize', 'build', ['version']],
    ['kubectl', 'kustomize', ['kustomize', '--help']],
  ] as const) {
    try {
      execFileSync(command, asked, { stdio: 'ignore', timeout: 10_000 });
      return [command, verb];
    } catch {
      // The next one.
    }
  }
  console.log(WHAT_TO_INSTALL);
  return null;
}

export function rendered([command, verb]: readonly string[], folder: string): readonly Manifest[] {
  const all =
    known.get(folder) ?? manifestsIn(execFileSync(command, [verb, join(FOLDER, folder)], { encoding: 'utf8' }));
  known.set(folder, all);
  return all;
}

const known = new Map<string, readonly Manifest[]>();

export function written(file: string): Manifest[] {
  return manifestsIn(readFileSync(join(FOLDER, file), 'utf8'));
}

function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

const SCHEMAS = JSON.parse(readFileSync(new URL('kubernetes-schemas/schemas.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(SCHEMAS, 'kubernetes');

/** What Kubernetes 1.34 would not take, by its own schemas; unknown fields are mistakes, too. */
export function mistakesIn(manifest: Manifest): string[] {
  const name = SCHEMAS.kinds[manifest.kind];
  if (name === undefined) return [`kind ${manifest.kind} has no schema here`];
  const validate = ajv.getSchema(`kubernetes#/$defs/${name}`)!;
  if (validate(manifest)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${manifest.kind} ${manifest.metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`;
  });
}
