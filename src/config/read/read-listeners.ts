import { createSecureContext } from 'node:tls';
import type { AccessConfig } from '../../access/access-config.js';
import { isLoopback } from '../../access/loopback.js';
import type { HttpTlsConfig } from '../resolved/resolved-config.js';
import { HTTP_TLS, type HttpTlsSettings } from '../schema/access.js';
import type { Sound } from '../schema/read-section.js';
import type { TextsRead } from '../schema/text-file.js';
import type { Findings } from '../setting/findings.js';
import type { SoundNode } from './read-node.js';
import { type FileContext, readTexts } from './read-texts.js';

/** A listener that other machines can reach needs `auth:`, or `insecure: true` for a network without strangers. */
export function checkReach(node: SoundNode, auth: AccessConfig | null, findings: Findings): void {
  if (auth !== null || node.insecure === true) return;
  for (const section of ['http', 'mqtt'] as const) {
    const { host } = node[section];
    if (section === 'http' && node.http.socket !== null) continue;
    if (typeof host !== 'string' || isLoopback(host)) continue;
    findings.add([section, 'host'], {
      problem: `is ${host}, which other machines reach, and there is no auth`,
      allowed: '127.0.0.1, ::1 or localhost without auth',
      remedy:
        'Add auth (docs/operate/access.md; `quotamesh token new` makes a token), listen on 127.0.0.1, or write `insecure: true` where nobody else is in the network.',
    });
  }
}

export interface ReadHttpTls {
  readonly tls: HttpTlsConfig | null;
  readonly files: readonly string[];
}

/** Reads certificate, key and authority of the HTTP listener from their files, and tries them out. */
export function readHttpTls(
  node: SoundNode,
  auth: AccessConfig | null,
  findings: Findings,
  context: FileContext,
): ReadHttpTls {
  const before = findings.mistakes.length;
  const { read: tls, files } = readTexts(HTTP_TLS, node.http.tls, ['http', 'tls'], findings, context);
  checkTogether(tls, auth, findings);
  if (typeof node.http.socket === 'string' && tls.cert !== null) {
    const remedy = 'Remove http.tls: nobody on the way can read what goes over the socket.';
    findings.add(['http', 'tls'], { problem: 'does not apply to http.socket', allowed: 'one of the two', remedy });
  }
  if (findings.mistakes.length > before || tls.cert === null) return { tls: null, files };
  // Without mistakes every field is there; a certificate without a key would have been one.
  tryOut(tls as HttpTlsConfig, findings);
  return { tls: tls as HttpTlsConfig, files };
}

/** What Node.js's TLS servers take. */
export function secureContextOf({ cert, key, passphrase, clientCa }: HttpTlsConfig) {
  return {
    cert,
    key,
    ...(passphrase === null ? {} : { passphrase }),
    ...(clientCa === null ? {} : { ca: clientCa }),
  };
}

type SoundTls = Sound<TextsRead<HttpTlsSettings>>;

function checkTogether(tls: SoundTls, auth: AccessConfig | null, findings: Findings): void {
  const has = (key: keyof SoundTls) => tls[key] !== null;
  const require = (key: keyof SoundTls, needed: keyof SoundTls) => {
    if (has(needed)) return;
    const remedy = `Add http.tls.${needed} or http.tls.${needed}File, or remove http.tls.${key}.`;
    findings.add(['http', 'tls', key], { problem: `needs http.tls.${needed}`, allowed: 'both', remedy });
  };
  if (has('cert')) require('cert', 'key');
  for (const key of ['key', 'passphrase', 'clientCa'] as const) if (has(key)) require(key, 'cert');
  if (tls.clientCertificates === 'required') require('clientCertificates', 'clientCa');
  if ((auth?.certificates.length ?? 0) > 0 && !has('clientCa')) {
    const remedy = 'Add http.tls.clientCaFile, or remove auth.certificates.';
    findings.add(['auth', 'certificates'], { problem: 'need http.tls.clientCa', allowed: 'both', remedy });
  }
}

/** A wrong passphrase, a key of another certificate, or no PEM at all is told here, and not by the first client. */
function tryOut(tls: HttpTlsConfig, findings: Findings): void {
  try {
    createSecureContext(secureContextOf(tls));
  } catch (error) {
    findings.add(['http', 'tls'], {
      problem: `cannot be used: ${(error as Error).message}`,
      allowed: 'a PEM certificate with its own PEM key',
      remedy: 'Check that tls.key belongs to tls.cert, that both are PEM, and the passphrase.',
    });
  }
}
