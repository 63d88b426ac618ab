import { createSecureContext } from 'node:tls';
import type { AccessConfig } from '../../access/access-config.js';
import { isLoopback } from '../../access/loopback.js';
import type { HttpTlsConfig } from '../resolved/resolved-config.js';
import { HTTP_FILE_SETTINGS } from '../schema/access.js';
import type { Findings } from '../setting/findings.js';
import type { SettingValues } from './read-node.js';
import { type FileContext, readTextSetting } from './read-text-setting.js';

/** Listeners that other machines reach need `auth:`, or the word that nobody is there who should not. */
export function checkReach(node: SettingValues, auth: AccessConfig | null, findings: Findings): void {
  if (auth !== null || node.get('insecure') === true) return;
  for (const section of ['http', 'mqtt']) {
    const host = node.get(`${section}.host`);
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

/** Certificate, key and authority of the HTTP listener, read from their files and tried. */
export function readHttpTls(
  node: SettingValues,
  auth: AccessConfig | null,
  findings: Findings,
  context: FileContext,
): ReadHttpTls {
  const values = new Map(
    [...node].flatMap(([path, value]) => (path.startsWith('http.tls.') ? [[path.slice(5), value]] : [])) as [
      string,
      unknown,
    ][],
  );
  const before = findings.mistakes.length;
  const files = HTTP_FILE_SETTINGS.flatMap((key) => {
    return readTextSetting(values, { section: 'http', key }, findings, context) ?? [];
  });
  checkTogether(values, auth, findings);
  if (findings.mistakes.length > before || values.get('tls.cert') === null) return { tls: null, files };
  const tls = {
    cert: values.get('tls.cert'),
    key: values.get('tls.key'),
    passphrase: values.get('tls.passphrase'),
    clientCa: values.get('tls.clientCa'),
    clientCertificates: values.get('tls.clientCertificates'),
  } as HttpTlsConfig;
  tryOut(tls, findings);
  return { tls, files };
}

/** What Node.js's TLS servers take. */
export function secureContextOf({ cert, key, passphrase, clientCa }: HttpTlsConfig) {
  return {
    ...{ cert, key },
    ...(passphrase === null ? {} : { passphrase }),
    ...(clientCa === null ? {} : { ca: clientCa }),
  };
}

function checkTogether(values: SettingValues, auth: AccessConfig | null, findings: Findings): void {
  const has = (key: string) => values.get(key) !== null;
  const require = (key: string, needed: string, when = '') => {
    if (has(needed)) return;
    const remedy = `Add http.${needed} or http.${needed}File, or remove http.${key}.`;
    findings.add(['http', ...key.split('.')], { problem: `needs http.${needed}${when}`, allowed: 'both', remedy });
  };
  if (has('tls.cert')) require('tls.cert', 'tls.key');
  for (const key of ['tls.key', 'tls.passphrase', 'tls.clientCa']) if (has(key)) require(key, 'tls.cert');
  if (values.get('tls.clientCertificates') === 'required') require('tls.clientCertificates', 'tls.clientCa');
  if ((auth?.certificates.length ?? 0) > 0 && !has('tls.clientCa')) {
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
