import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import { isMapping } from '../../src/base/input/mapping.js';
import { didYouMean } from '../../src/base/input/nearest-name.js';
import { readTextFile } from '../../src/config/read/read-text-file.js';
import { withUnitsBehindAmounts } from '../../src/config/read/units-in-keys.js';
import { ConfigError, formatPath, type Mistake } from '../../src/config/setting/config-error.js';
import { Findings } from '../../src/config/setting/findings.js';
import { parseYaml } from '../../src/config/yaml/parse-yaml.js';
import { readScenario } from './read-scenario.js';
import type { Scenario } from './scenario.js';

const FOLDER = new URL('../scenarios/', import.meta.url);
const FILE_BYTES_MAX = 1024 * 1024;

/** Checks a scenario further; `raw` is the YAML. */
export type ScenarioCheck = (scenario: Scenario, raw: RawScenario, findings: Findings) => void;

export type RawScenario = Readonly<Record<string, unknown>>;

/** Loads a built-in scenario or a file. Throws a ConfigError with every mistake. */
export function loadScenario(nameOrFile: string, check?: ScenarioCheck): Scenario {
  const names = builtInNames();
  if (isFile(nameOrFile)) return loadFile(nameOrFile, check);
  if (names.includes(nameOrFile)) return loadBuiltIn(nameOrFile, check);
  throw unknownScenario(nameOrFile, names);
}

export function isFile(nameOrFile: string): boolean {
  return /\.ya?ml$|[/\\]/.test(nameOrFile) || existsSync(nameOrFile);
}

export function unknownScenario(name: string, names: readonly string[]): QuotameshError {
  const near = didYouMean(name, names);
  const reason = `no scenario is named ${JSON.stringify(name)}, and there is no such file. ${near}`.trimEnd();
  return new QuotameshError('USAGE', { reason });
}

/** Lists a folder's scenarios: those of nodes, or in `gtt/` of backends. */
export function builtInNames(folder = ''): readonly string[] {
  const files = readdirSync(new URL(folder, FOLDER)).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => `${folder}${file.slice(0, -'.yaml'.length)}`).sort();
}

export function loadBuiltIn(name: string, check?: ScenarioCheck): Scenario {
  return loadFile(builtInFile(name), check);
}

export function builtInFile(name: string): string {
  return fileURLToPath(new URL(`${name}.yaml`, FOLDER));
}

/** Parses a scenario; `source` names it in messages. */
export function parseScenario(text: string, source: string, check?: ScenarioCheck): Scenario {
  return parseWith(text, source, (raw, findings) => {
    if (hasBackends(raw)) findings.add(['backends'], ONLY_RUN, { part: 'key' });
    const scenario = readScenario(raw, findings);
    if (findings.mistakes.length === 0) check?.(scenario, raw as RawScenario, findings);
    return scenario;
  });
}

const ONLY_RUN = {
  problem: 'makes this a scenario of backends, which only `quotamesh sim run` plays, on our own strategies',
  allowed: 'a scenario of nodes and load',
  remedy: 'Use `quotamesh sim run`, or choose another scenario.',
};

/** Tests for a scenario of backends (sim/target). */
export function hasBackends(raw: unknown): raw is RawScenario {
  return isMapping(raw) && Object.hasOwn(raw, 'backends');
}

/** Reads a text with all its mistakes, YAML's too. */
export function parseWith<Read>(text: string, source: string, read: (raw: unknown, findings: Findings) => Read): Read {
  const parsed = parseYaml(text);
  const own = parsed.mistakes.map(
    ({ path, location, ...finding }): Mistake => ({ file: source, ...location, path: formatPath(path), ...finding }),
  );
  if (!parsed.readable) throw new ConfigError(source, own);
  const findings = new Findings(source, parsed.locate);
  const result = read(withUnitsBehindAmounts(parsed.raw, findings), findings);
  const mistakes = [...own, ...findings.mistakes];
  if (mistakes.length > 0) throw new ConfigError(source, mistakes);
  return result;
}

function loadFile(file: string, check?: ScenarioCheck): Scenario {
  return parseScenario(readScenarioText(file), file, check);
}

export function readScenarioText(file: string): string {
  try {
    return readTextFile(file, FILE_BYTES_MAX);
  } catch (error) {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });
  }
}
