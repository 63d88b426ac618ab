import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './kustomize.js';

export const CHART = fileURLToPath(new URL('../../deploy/helm/quotamesh', import.meta.url));
export const HELM_IS_MISSING =
  'helm is not here (`go install helm.sh/helm/v3/cmd/helm@v3.21.4`): the chart is checked as it is written, not as it is rendered';

/** Whether there is a helm in the PATH. */
export function hasHelm(): boolean {
  try {
    execFileSync('helm', ['version'], { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    console.log(HELM_IS_MISSING);
    return false;
  }
}

/** The manifests of the chart with values as `--set` takes them; throws what helm says. */
export function rendered(...values: readonly string[]): readonly Manifest[] {
  const sets = values.flatMap((value) => ['--set', value]);
  // A helm that was built from its source takes itself for one of Kubernetes 1.20.
  const command = ['template', 'quotamesh', CHART, '--namespace', 'quotas', '--kube-version', '1.34.0', ...sets];
  const text = execFileSync('helm', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}
