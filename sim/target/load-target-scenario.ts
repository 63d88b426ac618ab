import {
  builtInFile,
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

type AnyScenario =
  | { readonly kind: 'nodes'; readonly scenario: Scenario }
  | { readonly kind: 'backends'; readonly scenario: TargetScenario };

/** Loads a scenario of either kind. Throws a ConfigError with every mistake. */
export function loadAnyScenario(nameOrFile: string): AnyScenario {
  const names = [...builtInNames(), ...builtInTargetNames()];
  const isBuiltIn = names.includes(nameOrFile);
  if (!isBuiltIn && !isFile(nameOrFile)) throw unknownScenario(nameOrFile, names);
  const file = isBuiltIn ? builtInFile(nameOrFile) : nameOrFile;
  const text = readScenarioText(file);
  if (parseWith(text, file, hasBackends)) return { kind: 'backends', scenario: parseTargetScenario(text, file) };
  return { kind: 'nodes', scenario: parseScenario(text, file) };
}

export function builtInTargetNames(): readonly string[] {
  return builtInNames('gtt/');
}

export function loadBuiltInTarget(name: string): TargetScenario {
  const file = builtInFile(name);
  return parseTargetScenario(readScenarioText(file), file);
}

export function parseTargetScenario(text: string, source: string): TargetScenario {
  return parseWith(text, source, (raw, findings) => readTargetScenario(hasBackends(raw) ? raw : {}, findings));
}
