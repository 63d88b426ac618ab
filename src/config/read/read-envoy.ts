import { resolve } from 'node:path';
import type { XdsConfig } from '../resolved/resolved-config.js';
import { XDS, type XdsSettings } from '../schema/envoy.js';
import type { Findings } from '../setting/findings.js';
import type { Sound, TextsRead } from '../setting/text-file.js';
import type { SoundNode } from './read-node.js';
import { type FileContext, readTexts } from './read-texts.js';

/** Reads where rules come from: an absolute path, or a server; null = not from there, or a mistake. */
export function readEnvoyRules({ envoy }: SoundNode, findings: Findings, context: FileContext) {
  const before = findings.mistakes.length;
  const { read, files } = readTexts(XDS, envoy.xds, ['envoy', 'xds'], findings, context);
  checkSources(envoy, findings);
  checkXdsTls(read, findings);
  const isSound = findings.mistakes.length === before && read.url !== null;
  const envoyRules = typeof envoy.rules === 'string' ? resolve(context.folder, envoy.rules) : null;
  return { envoyRules, envoyXds: isSound ? (read as XdsConfig) : null, files };
}

/** Refuses rules that nobody asks for, and rules from two sides. */
function checkSources({ listen, rules, xds }: SoundNode['envoy'], findings: Findings): void {
  const hasRules = typeof rules === 'string';
  const hasXds = typeof xds.url === 'string';
  if (hasRules && hasXds) {
    const remedy = 'Remove envoy.rules, or envoy.xds.';
    findings.add(['envoy', 'rules'], { problem: 'stands beside envoy.xds', allowed: 'one of the two', remedy });
  }
  if (listen !== null || !(hasRules || hasXds)) return;
  const path = hasRules ? ['rules'] : ['xds', 'url'];
  const remedy = `Add envoy.listen, e.g. 127.0.0.1:8081, or remove envoy.${path.join('.')}.`;
  findings.add(['envoy', ...path], { problem: 'needs envoy.listen: nobody could ask', allowed: 'both', remedy });
}

function checkXdsTls({ url, tls }: Sound<TextsRead<XdsSettings>>, findings: Findings): void {
  const given = Object.entries(tls).find(([, value]) => typeof value === 'string');
  if (given !== undefined && typeof url === 'string' && !url.startsWith('https:')) {
    const problem = 'needs an envoy.xds.url that begins with https://';
    findings.add(['envoy', 'xds', 'tls', given[0]], { problem, allowed: 'both', remedy: 'Correct the URL.' });
  }
  for (const [one, other] of [
    ['cert', 'key'],
    ['key', 'cert'],
  ] as const) {
    if (typeof tls[one] !== 'string' || tls[other] !== null) continue;
    const remedy = `Add envoy.xds.tls.${other}, or remove envoy.xds.tls.${one}.`;
    findings.add(['envoy', 'xds', 'tls', one], { problem: `needs envoy.xds.tls.${other}`, allowed: 'both', remedy });
  }
}
