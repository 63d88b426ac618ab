import { formatMistake } from '../../../../src/config/setting/config-error.js';
import { type CompiledRules, compileRules } from '../../../../src/doors/envoy/rules/compile-rules.js';
import { readYamlRules } from '../../../../src/doors/envoy/rules/read-yaml-rules.js';
import { formatNote, RuleFindings } from '../../../../src/doors/envoy/rules/written-rules.js';

/** Reads files by name, as a folder has them. */
export function readRules(files: Readonly<Record<string, string>>) {
  const findings = new RuleFindings();
  const written = Object.entries(files).flatMap(([file, text]) => readYamlRules(file, text, findings) ?? []);
  const rules = compileRules(written, findings);
  return { rules, mistakes: findings.mistakes.map(formatMistake), notes: findings.notes.map(formatNote) };
}

/** Reads one file without mistakes. */
export function rulesOf(text: string): CompiledRules {
  const { rules, mistakes } = readRules({ 'rules.yaml': text });
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  return rules;
}

/** Reads `key=value, key=value`. */
export function entriesOf(text: string) {
  return text.split(', ').map((entry) => {
    const [key = '', ...value] = entry.split('=');
    return { key, value: value.join('=') };
  });
}
