import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  builtInNames,
  hasBackends,
  isFile,
  parseScenario,
  parseWith,
  readScenarioText,
  unknownScenario,
} from '../scenario/load-scenario.js';
import type { Scenario } from '../scenario/scenario.js';
import { readTargetScenario } from './read-target-scenario.js';
import type { TargetScenario } from './target-scenario.js';

const FOLDER = new URL('../scenarios/', import.meta.url);
const KIND = 'gtt';

export type AnyScenario =
  | { readonly kind: 'nodes'; readonly scenario: Scenario }
  | { readonly kind: 'backends'; readonly scenario: TargetScenario };

/** Loads a scenario of either kind. Throws a ConfigError with every mistake. */
export function loadAnyScenario(nameOrFile: string): AnyScenario {
  const names = [...builtInNames(), ...builtInTargetNames()];
  const isBuiltIn = names.includes(nameOrFile);
  if (!isBuiltIn && !isFile(nameOrFile)) throw unknownScenario(nameOrFile, names);
  const file = isBuiltIn ? fileOf(nameOrFile) : nameOrFile;
  const text = readScenarioText(file);
  if (parseWith(text, file, hasBackends)) return { kind: 'backends', scenario: parseTargetScenario(text, file) };
  return { kind: 'nodes', scenario: parseScenario(text, file) };
}

export function builtInTargetNames(): readonly string[] {
  const files = readdirSync(new URL(`${KIND}/`, FOLDER)).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => `${KIND}/${file.slice(0, -'.yaml'.length)}`).sort();
}

export function loadBuiltInTarget(name: string): TargetScenario {
  const file = fileOf(name);
  return parseTargetScenario(readScenarioText(file), file);
}

export function parseTargetScenario(text: string, source: string): TargetScenario {
  return parseWith(text, source, (raw, findings) => readTargetScenario(hasBackends(raw) ? raw : {}, findings));
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`${name}.yaml`, FOLDER));
}
