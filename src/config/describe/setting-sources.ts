import { parse } from 'yaml';
import { isMapping } from '../../base/input/mapping.js';
import { configFiles } from '../files/config-files.js';
import { type LoadOptions, loadConfig } from '../files/load-config.js';
import { withBurstsInFull } from '../read/burst-in-full.js';
import { type ConfigOverrides, type Environment, VARIABLES } from '../read/environment.js';
import { readTextFile } from '../read/read-text-file.js';
import { withUnitsBehindAmounts } from '../read/units-in-keys.js';
import { type ConfigPath, Findings, type Locate } from '../setting/findings.js';
import { mergeFiles } from '../yaml/merge-files.js';
import { parseYaml } from '../yaml/parse-yaml.js';
import { describeConfig } from './describe-config.js';

/** A value in force, secrets masked, and who says it: `default`, `node.yaml:12`, a variable or a flag. */
interface SourcedSetting {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
}

/** Every value of the effective configuration. Rejects as loadConfig does. */
export async function settingSources(options: LoadOptions): Promise<readonly SourcedSetting[]> {
  const config = await loadConfig(options);
  const files = configFiles(options.file).map((file) => ({ file, parsed: parseYaml(readTextFile(file, BYTES_MAX)) }));
  const { raw, locate } = mergeFiles(files);
  const findings = new Findings(options.file, locate);
  // `burst: 10` is found at burst.messages.
  const written = {
    raw: isMapping(raw) ? withBurstsInFull(withUnitsBehindAmounts(raw, findings), findings) : raw,
    locate: (path: ConfigPath, part: 'key' | 'value') => locate(findings.asWritten(path), part),
  };
  const variables = givenVariables(options.env ?? {});
  const flags = givenFlags(options.overrides ?? {});
  return leavesOf(parse(describeConfig(config)), []).map(({ path, value }) => {
    return { key: path.join('.'), value, source: sourceOf(path, { variables, flags, ...written }) };
  });
}

/** Bounds nothing: loadConfig has read the same files within its own bound. */
const BYTES_MAX = Number.MAX_SAFE_INTEGER;

function leavesOf(value: unknown, path: readonly string[]): { path: readonly string[]; value: unknown }[] {
  if (!isMapping(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([key, below]) => leavesOf(below, [...path, key]));
}

interface Sources {
  /** YAML path → variable. */
  readonly variables: ReadonlyMap<string, string>;
  readonly flags: ReadonlyMap<string, string>;
  readonly raw: unknown;
  readonly locate: Locate;
}

function sourceOf(path: readonly string[], sources: Sources): string {
  // A variable may name the file of a text.
  for (const written of [...pathsOf(path), [...path, 'file']]) {
    const given = givenBy(written, sources);
    if (given !== null) return given;
  }
  return 'default';
}

/** Lists where a value may stand: its own path, and those from which a group, a template or an override inherits. */
function pathsOf(path: readonly string[]): readonly (readonly string[])[] {
  const [section = '', name = '', ...below] = path;
  if ((section !== 'groups' && section !== 'keys') || below.length === 0) return [path];
  if (section === 'groups' || below[0] !== 'overrides') return [path, ['defaults', ...below]];
  const [, key = '', ...rest] = below;
  // An override of a pattern with one field may be named by its value.
  const [before = '', after = ''] = name.split(/\{[^}]*\}/);
  const value = key.slice(before.length, key.length - after.length);
  return [path, [section, name, 'overrides', value, ...rest], [section, name, ...rest], ['defaults', ...rest]];
}

/** Null where nobody has given it. */
function givenBy(path: readonly string[], { variables, flags, raw, locate }: Sources): string | null {
  const key = path.join('.');
  const given = flags.get(key) ?? variables.get(key);
  if (given !== undefined) return given;
  if (!isWritten(raw, path)) return null;
  const location = locate(path, 'key');
  return location === null ? 'file' : `${location.file}:${location.line}`;
}

/** Tests if the path is written, also short: `topic: embedded` for topic.kind. */
function isWritten(raw: unknown, path: readonly string[]): boolean {
  let current = raw;
  for (const step of path) {
    if (!isMapping(current) || !Object.hasOwn(current, step)) return false;
    current = current[step];
    if (current === null || current === undefined) return false;
    if (!isMapping(current)) return true;
  }
  return true;
}

function givenVariables(environment: Environment): Map<string, string> {
  const given = [...VARIABLES].filter(([variable]) => (environment[variable] ?? '') !== '');
  return new Map(given.map(([variable, key]) => [key, variable]));
}

function givenFlags({ nodeId, http, mqtt }: ConfigOverrides): Map<string, string> {
  const flags = new Map<string, string>();
  if (nodeId !== undefined) flags.set('node', '--node');
  for (const [section, address] of Object.entries({ http, mqtt })) {
    if (address === undefined) continue;
    flags.set(`${section}.port`, `--${section}`);
    if (address.includes(':')) flags.set(`${section}.host`, `--${section}`);
  }
  return flags;
}
