import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = join(ROOT, '.github/workflows');
const { scripts, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly 'runs-on': string;
  readonly 'timeout-minutes': number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

describe.each(readdirSync(FOLDER))('%s', (name) => {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  const { permissions, jobs } = parse(text) as Workflow;
  const all = Object.values(jobs);
  const steps = all.flatMap((job) => job.steps);

  test('pins every action by commit, with the version behind it, and the same everywhere', () => {
    const used = text.split('\n').filter((line) => line.includes('uses:'));
    expect(used.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
    expect(steps.filter(({ uses }) => uses !== undefined)).toHaveLength(used.length);
  });

  test('may only read, but for what a job says, and ends by itself', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const mayWrite = all.filter((job) => Object.values(job.permissions ?? {}).includes('write'));
    expect(mayWrite).toHaveLength(name === 'release.yml' ? 2 : 0);
    expect(all.filter((job) => !(job['timeout-minutes'] > 0))).toEqual([]);
  });

  test('runs scripts that are there, and installs by the lock file without install scripts', () => {
    const runs = steps.map(({ run = '' }) => run).join('\n');
    const named = [...runs.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script = '']) => script);
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
    const installs = runs.split('\n').filter((line) => /\bnpm (ci|i|install)\b/.test(line));
    expect(installs.filter((line) => !line.startsWith('npm ci --ignore-scripts'))).toEqual([]);
  });

  test('keeps no secret but the token of the run', () => {
    expect(text).not.toMatch(/secrets\./);
  });
});

test('a release publishes what it has checked, with provenance, and what it brings stands in a list', () => {
  const { jobs } = parse(readFileSync(join(FOLDER, 'release.yml'), 'utf8')) as Workflow;
  const runs = jobs.npm?.steps.map(({ run = '' }) => run) ?? [];
  const at = (text: string) => runs.findIndex((run) => run.includes(text));
  const order = ['GITHUB_REF_NAME', 'npm ci', 'biome ci', 'run check', 'run sbom', 'npm pack ', 'publish --provenance'];
  expect(order.map(at)).toEqual(order.map(at).toSorted((one, other) => one - other));
  expect(order.map(at)).not.toContain(-1);
  expect(jobs.npm?.permissions?.['id-token']).toBe('write');
});

test('the policy for weaknesses comes along with the package', () => {
  expect(files).toContain('SECURITY.md');
});
