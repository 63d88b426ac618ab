import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { configFiles } from '../../../config/files/config-files.js';
import { readTextFile } from '../../../config/read/read-text-file.js';
import { ConfigError } from '../../../config/setting/config-error.js';
import { type CompiledRules, compileRules } from './compile-rules.js';
import { readYamlRules } from './read-yaml-rules.js';
import { RuleFindings, type RuleNote } from './written-rules.js';

export interface LoadedRules {
  readonly rules: CompiledRules;
  readonly notes: readonly RuleNote[];
}

/**
 * Reads a file, or the YAML files right in a folder. Each has one domain; several may add to one. Throws
 * CONFIG_UNREADABLE, and a ConfigError of RULES_INVALID with every mistake.
 */
export function loadRules(path: string): LoadedRules {
  const findings = new RuleFindings();
  const written = textsOf(path).flatMap(({ file, text }) => readYamlRules(file, text, findings) ?? []);
  const rules = compileRules(written, findings);
  if (findings.mistakes.length > 0) throw new ConfigError(path, findings.mistakes, 'RULES_INVALID');
  return { rules, notes: findings.notes };
}

function textsOf(path: string): { readonly file: string; readonly text: string }[] {
  let file = path;
  try {
    return configFiles(path).map((each) => {
      file = each;
      return { file, text: readTextFile(file, FILE_BYTES_MAX) };
    });
  } catch (error) {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });
  }
}

/** About 100,000 descriptors; reading that takes seconds. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
