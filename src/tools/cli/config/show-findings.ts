import { ERROR_CATALOGUE } from '../../../base/errors/catalogue.js';
import { type ErrorRow, EXIT_OK, EXIT_UNEXPECTED } from '../../../base/errors/error-row.js';
import type { Finding } from '../../../config/setting/topic-kind.js';
import { examine } from '../../doctor/examine.js';
import type { DoctorOptions } from './doctor-command.js';

export async function showFindings(file: string, { node: nodeId, http, timeout, json }: DoctorOptions): Promise<void> {
  const overrides = { nodeId, http };
  const findings = await examine({ file, env: process.env, overrides, timeoutMs: timeout * 1000 });
  const sound = !findings.some(({ state }) => state === 'wrong');
  const text = json === true ? JSON.stringify({ sound, findings }) : findingLines(findings).join('\n');
  process.stdout.write(`${text}\n`, () => {
    // A connection that hangs in its handshake would hold the process.
    process.exit(findingsExitCode(findings));
  });
}

export function findingLines(findings: readonly Finding[]): readonly string[] {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const indent = ' '.repeat(width + 4);
  const lines = findings.flatMap(({ about, state, says, code, remedy }) => {
    const [first = '', ...others] = says.split('\n');
    return [
      `${SIGNS[state]} ${about.padEnd(width)}  ${first}`,
      ...others.map((line) => indent + line),
      ...(remedy === null ? [] : [`${indent}${code}: ${remedy}`]),
    ];
  });
  const wrong = findings.filter(({ state }) => state === 'wrong').length;
  return [...lines, wrong === 0 ? 'Nothing is wrong.' : `${wrong} of ${findings.length} looks found something wrong.`];
}

const SIGNS: Readonly<Record<Finding['state'], string>> = { good: '✓', noted: '!', wrong: '✗', skipped: '-' };

export function findingsExitCode(findings: readonly Finding[]): number {
  const first = findings.find(({ state }) => state === 'wrong');
  if (first === undefined) return EXIT_OK;
  return (first.code === null ? undefined : (ERROR_CATALOGUE[first.code] as ErrorRow).exitCode) ?? EXIT_UNEXPECTED;
}
