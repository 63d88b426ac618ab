import { EXIT_CONFIG } from '../../../base/errors/error-row.js';
import { ConfigError } from '../../../config/setting/config-error.js';
import { type CompiledRule, type CompiledRules, shownLimit } from '../../../doors/envoy/rules/compile-rules.js';
import type { DescriptorEntry } from '../../../doors/envoy/rules/descriptor-rules.js';
import { type LoadedRules, loadRules } from '../../../doors/envoy/rules/load-rules.js';
import { shownRuleRate } from '../../../doors/envoy/rules/rule-settings.js';
import { formatNote } from '../../../doors/envoy/rules/written-rules.js';
import { print, usage } from '../../terminal/print.js';
import { textTable } from '../../terminal/text-table.js';

interface CheckOptions {
  readonly json?: boolean;
  readonly domain?: string;
  readonly descriptor?: string;
}

/** `quotamesh envoy check`: prints a row per rule, then notes, then what a descriptor finds. */
export async function checkRules(path: string, { json = false, ...asked }: CheckOptions): Promise<void> {
  const wanted = wantedOf(asked);
  try {
    const loaded = loadRules(path);
    const found = wanted && describeFound(loaded.rules, wanted);
    if (json) print(JSON.stringify({ valid: true, ...described(loaded), mistakes: [], ...(found && { found }) }));
    else printRules(path, loaded, found);
  } catch (error) {
    if (!json || !(error instanceof ConfigError)) throw error;
    print(JSON.stringify({ valid: false, mistakes: error.mistakes }));
    process.exitCode = EXIT_CONFIG;
  }
}

interface Wanted {
  readonly domain: string;
  readonly entries: readonly DescriptorEntry[];
}

/** Reads `key=value,key=value`. Throws USAGE. */
function wantedOf({ domain, descriptor }: CheckOptions): Wanted | null {
  if (domain === undefined && descriptor === undefined) return null;
  if (domain === undefined || descriptor === undefined) throw usage('--domain and --descriptor go together');
  const entries = descriptor.split(',').map((entry) => {
    const at = entry.indexOf('=');
    if (at < 1) throw usage(`--descriptor must be key=value,key=value, got ${JSON.stringify(descriptor)}`);
    return { key: entry.slice(0, at), value: entry.slice(at + 1) };
  });
  return { domain, entries };
}

interface Found {
  readonly isKnownDomain: boolean;
  readonly rule: string | null;
  readonly line: number | null;
  /** null = nothing limits it. */
  readonly bucket: string | null;
}

function describeFound(rules: CompiledRules, { domain, entries }: Wanted): Found {
  const rule = rules.find(domain, entries);
  const bucket = rule === null || rule.isUnlimited ? null : rule.bucketOf(domain, entries);
  return { isKnownDomain: rules.hasDomain(domain), rule: rule?.name ?? null, line: rule?.place.line ?? null, bucket };
}

function described({ rules, notes }: LoadedRules) {
  return { domains: [...rules.domains.keys()], rules: rules.all.map(describeRule), notes };
}

function describeRule({ place, name, becomes, bucket, rate, isQuota, label, replaces }: CompiledRule) {
  return {
    file: place.file,
    line: place.line,
    rule: name,
    becomes,
    bucket,
    quota: rate && shownRuleRate(rate),
    burst: rate?.requestsPerUnit ?? null,
    shadow: rate?.isShadow ?? false,
    quotaMode: isQuota,
    name: label,
    replaces,
  };
}

function printRules(path: string, { rules, notes }: LoadedRules, found: Found | null): void {
  const rows = rules.all.map((rule) => {
    const { place, name, becomes, bucket } = rule;
    return [`${place.file}:${place.line}`, name, becomes, shownLimit(rule), bucket];
  });
  if (rows.length > 0) print(...textTable(['line', 'rule', 'becomes', 'limit', 'name'], rows));
  if (notes.length > 0) print('', ...notes.map(formatNote));
  if (found !== null) print('', foundText(found));
  const counts = (['group', 'template', 'unlimited'] as const).map((kind) => {
    return `${rules.all.filter(({ becomes }) => becomes === kind).length} ${PLURALS[kind]}`;
  });
  print('', `${path}: valid; ${rules.domains.size} domains, ${rules.all.length} rules: ${counts.join(', ')}`);
}

const PLURALS = { group: 'groups', template: 'templates', unlimited: 'unlimited' } as const;

function foundText({ isKnownDomain, rule, line, bucket }: Found): string {
  if (!isKnownDomain) return 'the descriptor: no rule has its domain';
  if (rule === null) return 'the descriptor finds no rule with a limit: nothing limits it';
  return `the descriptor finds line ${line}, ${rule}; ${bucket === null ? 'nothing limits it' : `its bucket: ${bucket}`}`;
}
