import { createSecureContext } from 'node:tls';
import { secureContextOf } from '../../base/access/listener-tls.js';
import { isLoopback } from '../../base/access/loopback.js';
import type { ListenerTlsConfig } from '../resolved/resolved-config.js';
import { LISTENER_TLS, type ListenerTlsSettings } from '../schema/access.js';
import type { Findings } from '../setting/findings.js';
import type { Sound, TextsRead } from '../setting/text-file.js';
import type { ReadAuth } from './read-auth.js';
import type { SoundNode } from './read-node.js';
import { type FileContext, readTexts } from './read-texts.js';

/** A listener that other machines can reach needs `auth:`, or `insecure: true` for a network without strangers. */
export function checkReach(node: SoundNode, auth: ReadAuth['auth'], findings: Findings): void {
  if (auth !== null || node.insecure === true) return;
  for (const [path, host] of hostsOf(node)) {
    if (typeof host !== 'string' || isLoopback(host)) continue;
    findings.add(path, {
      problem: `is ${host}, which other machines reach, and there is no auth`,
      allowed: '127.0.0.1, ::1 or localhost without auth',
      remedy:
        'Add auth (docs/operate/access.md; `quotamesh token new` makes a token), listen on 127.0.0.1, or write `insecure: true` where nobody else is in the network.',
    });
  }
}

function hostsOf({ http, mqtt, envoy }: SoundNode): readonly (readonly [string[], unknown])[] {
  const listen = typeof envoy.listen === 'string' ? envoy.listen.replace(/:\d+$/, '').replace(/^\[|\]$/g, '') : null;
  return [
    [['http', 'host'], http.socket === null ? http.host : null],
    [['mqtt', 'host'], mqtt.host],
    [['envoy', 'listen'], listen],
  ];
}

/** Reads certificates, keys and authorities of the listeners; tries them out. */
export function readListenerTls(node: SoundNode, auth: ReadAuth['auth'], findings: Findings, context: FileContext) {
  const http = readTls('http', node, findings, context);
  const mqtt = readTls('mqtt', node, findings, context);
  const envoy = readTls('envoy', node, findings, context);
  const all = [http, mqtt, envoy];
  if ((auth?.certificates.length ?? 0) > 0 && all.every(({ read }) => read.clientCa === null)) {
    const remedy = 'Add http.tls.clientCa, mqtt.tls.clientCa or envoy.tls.clientCa, or remove auth.certificates.';
    const problem = 'need http.tls.clientCa, mqtt.tls.clientCa or envoy.tls.clientCa';
    findings.add(['auth', 'certificates'], { problem, allowed: 'both', remedy });
  }
  return { httpTls: http.tls, mqttTls: mqtt.tls, envoyTls: envoy.tls, files: all.flatMap(({ files }) => files) };
}

type TlsListener = 'http' | 'mqtt' | 'envoy';
type SoundTls = Sound<TextsRead<ListenerTlsSettings>>;

/** `tls` is null where there is none, or a mistake. */
function readTls(listener: TlsListener, node: SoundNode, findings: Findings, context: FileContext) {
  const before = findings.mistakes.length;
  const { read, files } = readTexts(LISTENER_TLS, node[listener].tls, [listener, 'tls'], findings, context);
  checkTogether(listener, read, findings);
  if (listener === 'http' && typeof node.http.socket === 'string' && read.cert !== null) {
    const remedy = 'Remove http.tls: nobody on the way can read what goes over the socket.';
    findings.add(['http', 'tls'], { problem: 'does not apply to http.socket', allowed: 'one of the two', remedy });
  }
  if (findings.mistakes.length > before || read.cert === null) return { read, tls: null, files };
  // Without mistakes every field is there; a certificate without a key would have been one.
  const tls = read as ListenerTlsConfig;
  tryOut(listener, tls, findings);
  return { read, tls, files };
}

function checkTogether(listener: TlsListener, tls: SoundTls, findings: Findings): void {
  const has = (key: keyof SoundTls) => tls[key] !== null;
  const require = (key: keyof SoundTls, needed: keyof SoundTls) => {
    if (has(needed)) return;
    const at = `${listener}.tls`;
    const remedy = `Add ${at}.${needed}, or remove ${at}.${key}.`;
    findings.add([listener, 'tls', key], { problem: `needs ${at}.${needed}`, allowed: 'both', remedy });
  };
  if (has('cert')) require('cert', 'key');
  for (const key of ['key', 'passphrase', 'clientCa'] as const) if (has(key)) require(key, 'cert');
  if (tls.clientCertificates === 'required') require('clientCertificates', 'clientCa');
}

/**
 * Tries a listener's TLS, so that no client finds the mistake first. A wrong passphrase, a key of another certificate,
 * or no PEM at all is told here.
 */
function tryOut(listener: TlsListener, tls: ListenerTlsConfig, findings: Findings): void {
  try {
    createSecureContext(secureContextOf(tls));
  } catch (error) {
    findings.add([listener, 'tls'], {
      problem: `cannot be used: ${(error as Error).message}`,
      allowed: 'a PEM certificate with its own PEM key',
      remedy: 'Check that tls.key belongs to tls.cert, that both are PEM, and the passphrase.',
    });
  }
}
