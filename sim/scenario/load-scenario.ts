import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ConfigError, formatPath, type Mistake } from '../../src/config/config-error.js';
import { Findings } from '../../src/config/findings.js';
import { didYouMean } from '../../src/config/nearest-name.js';
import { parseYaml } from '../../src/config/parse-yaml.js';
import { readTextFile } from '../../src/config/read-text-file.js';
import { QuotameshError } from '../../src/errors.js';
import { readScenario } from './read-scenario.js';
import type { Scenario } from './scenario.js';

const FOLDER = new URL('../scenarios/', import.meta.url);
const FILE_BYTES_MAX = 1024 * 1024;

/** A further look at a scenario without mistakes, for whoever cannot play all of them; `raw` is what YAML says. */
export type ScenarioCheck = (scenario: Scenario, raw: RawScenario, findings: Findings) => void;

export type RawScenario = Readonly<Record<string, unknown>>;

/** A scenario by the name of a built-in one, or by its file. Throws a ConfigError with every mistake. */
export function loadScenario(nameOrFile: string, check?: ScenarioCheck): Scenario {
  if (/\.ya?ml$|[/\\]/.test(nameOrFile) || existsSync(nameOrFile)) return loadFile(nameOrFile, check);
  const names = builtInNames();
  if (names.includes(nameOrFile)) return loadBuiltIn(nameOrFile, check);
  const near = didYouMean(nameOrFile, names);
  const reason = `no scenario is named ${JSON.stringify(nameOrFile)}, and there is no such file. ${near}`.trimEnd();
  throw new QuotameshError('USAGE', { reason });
}

export function builtInNames(): readonly string[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => file.slice(0, -'.yaml'.length)).sort();
}

export function loadBuiltIn(name: string, check?: ScenarioCheck): Scenario {
  return loadFile(fileURLToPath(new URL(`${name}.yaml`, FOLDER)), check);
}

/** A scenario from its text; `source` is the file's name in messages. */
export function parseScenario(text: string, source: string, check?: ScenarioCheck): Scenario {
  const parsed = parseYaml(text);
  const own = parsed.mistakes.map(
    ({ path, place, ...finding }): Mistake => ({ file: source, ...place, path: formatPath(path), ...finding }),
  );
  if (!parsed.readable) throw new ConfigError(source, own);
  const findings = new Findings(source, parsed.locate);
  const scenario = readScenario(parsed.raw, findings);
  if (own.length + findings.mistakes.length === 0) check?.(scenario, parsed.raw as RawScenario, findings);
  const mistakes = [...own, ...findings.mistakes];
  if (mistakes.length > 0) throw new ConfigError(source, mistakes);
  return scenario;
}

function loadFile(file: string, check?: ScenarioCheck): Scenario {
  return parseScenario(readFile(file), file, check);
}

function readFile(file: string): string {
  try {
    return readTextFile(file, FILE_BYTES_MAX);
  } catch (error) {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });
  }
}
