import { isMapping } from '../../base/input/mapping.js';
import { CONSTANTS } from '../resolved/constants.js';
import { POLLED_BACKEND, type PolledBackendSettings } from '../schema/polled-backends.js';
import { readSection } from '../schema/read-section.js';
import type { Findings } from '../setting/findings.js';
import { rowsOf } from '../setting/section.js';
import { GROUP_NAME } from '../setting/setting.js';
import { allowedText, mustBe } from '../setting/setting-text.js';
import type { Sound } from '../setting/text-file.js';

/** The backends whose health is polled, in the order of the configuration. */
export function readBackends(backends: unknown, findings: Findings): readonly (Backend & { readonly name: string })[] {
  if (backends === undefined || backends === null) return [];
  if (!isMapping(backends)) {
    findings.add(['backends'], mustBe('a mapping of backend name to settings', backends, 'Indent the names below it.'));
    return [];
  }
  return Object.entries(backends).map(([name, given]) => {
    const path = ['backends', name];
    if (!GROUP_NAME.matches.test(name)) {
      const problem = `is no name for a backend: it must be ${GROUP_NAME.text}`;
      findings.add(path, { problem, allowed: GROUP_NAME.text, remedy: 'Rename it.' }, { part: 'key' });
    }
    const read = readSection(findings, POLLED_BACKEND, path, given);
    checkRequired(read, path, findings);
    checkAddress(read, path, findings);
    checkInterval(read, path, findings);
    return { ...read, name, zone: read.zone ?? name };
  });
}

type Backend = Sound<PolledBackendSettings>;

function checkRequired(read: Backend, path: readonly string[], findings: Findings): void {
  for (const [key, setting] of Object.entries(rowsOf(POLLED_BACKEND))) {
    if (!setting.required || read[key as keyof Backend] !== null) continue;
    const { remedy = '' } = setting;
    findings.add([...path, key], { problem: 'is missing', allowed: allowedText(setting), remedy });
  }
}

function checkAddress({ url, metric }: Backend, path: readonly string[], findings: Findings): void {
  if (typeof url === 'string' && !(URL.canParse(url) && /^https?:/.test(url))) {
    const remedy = 'For example http://db-1:9100/metrics.';
    findings.add([...path, 'url'], mustBe('an http or https address', url, remedy));
  }
  if (typeof url === 'string' && URL.canParse(url) && new URL(url).username + new URL(url).password !== '') {
    // fetch refuses such addresses, and quotes them.
    const remedy = 'Let the backend answer this machine without a password, or put a proxy of your own between.';
    const problem = 'must not hold credentials';
    findings.add([...path, 'url'], { problem, allowed: 'an address without credentials', remedy });
  }
  if (typeof metric === 'string' && !METRIC.test(metric)) {
    const allowed = 'the name of a metric, with labels in braces where there are several samples';
    findings.add([...path, 'metric'], mustBe(allowed, metric, 'For example queue_bytes{shard="1"}.'));
  }
}

const METRIC = /^[A-Za-z_:][\w:]*(\{([A-Za-z_]\w*="[^"\\]*",?)*\})?$/;

function checkInterval({ everyMs }: Backend, path: readonly string[], findings: Findings): void {
  const mostMs = CONSTANTS.limiting.healthValidMs / 2;
  if (typeof everyMs !== 'number' || everyMs <= mostMs) return;
  const allowed = `at most ${mostMs}ms`;
  const problem = `must be ${allowed}, got ${everyMs}ms: otherwise one late answer would pass for silence`;
  findings.add([...path, 'everyMs'], { problem, allowed, remedy: 'Lower it.' });
}
