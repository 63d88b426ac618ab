import { readConfigFiles } from '../../../config/files/config-files.js';
import { ConfigError, type Mistake } from '../../../config/setting/config-error.js';
import { type CompiledRules, compileRules } from './compile-rules.js';
import { readYamlRules } from './read-yaml-rules.js';
import { RuleFindings, type RuleNote, type WrittenRules } from './written-rules.js';

export interface LoadedRules {
  readonly rules: CompiledRules;
  readonly notes: readonly RuleNote[];
}

/** Files as read, before rules are made of them; plain data, which a thread may hand over. */
export interface ReadRules {
  readonly written: readonly WrittenRules[];
  readonly mistakes: readonly Mistake[];
  readonly notes: readonly RuleNote[];
}

/**
 * Reads a file, or the YAML files right in a folder. A file has one domain, and files of one
 * domain are added up. Throws CONFIG_UNREADABLE, and a ConfigError of RULES_INVALID with every mistake.
 */
export function loadRules(path: string): LoadedRules {
  return rulesFrom(path, readRuleFiles(path));
}

/** Reads without making rules. Throws CONFIG_UNREADABLE. */
export function readRuleFiles(path: string): ReadRules {
  const findings = new RuleFindings();
  const written = readConfigFiles(path).flatMap(({ file, text }) => readYamlRules(file, text, findings) ?? []);
  return { written, mistakes: findings.mistakes, notes: findings.notes };
}

/** Makes rules of what was read. Throws a ConfigError of RULES_INVALID. @param source for messages */
export function rulesFrom(source: string, { written, mistakes, notes }: ReadRules): LoadedRules {
  const findings = new RuleFindings();
  const rules = compileRules(written, findings);
  const all = [...mistakes, ...findings.mistakes];
  if (all.length > 0) throw new ConfigError(source, all, 'RULES_INVALID');
  return { rules, notes: [...notes, ...findings.notes] };
}
