import { connect } from 'node:tls';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { UNIX } from '../../config/setting/outside-words.js';
import type { NodeAddress } from './node-address.js';

const PROBE_MS = 1000;

/** Explains a missing answer: nobody there, an untrusted certificate, or TLS on one side alone. */
export async function connectionFailure(node: NodeAddress, error: Error): Promise<QuotameshError> {
  const { url, socketPath } = node;
  const { code = '', message, cause } = error as NodeJS.ErrnoException & { readonly cause?: Error };
  const reason = (cause?.message ?? '') || message || code || 'the connection failed';
  const at = addressText(node);
  if (CERTIFICATE_CODES.test(code)) return new QuotameshError('NODE_CERTIFICATE', { url: at, reason });
  if (/^EPROTO$|^ERR_SSL_/.test(code) && /wrong.version.number|packet.length.too.long/i.test(`${code} ${message}`)) {
    return otherProtocol(at, 'https', 'http');
  }
  const isCut = code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('HPE_');
  if (url.protocol === 'http:' && socketPath === undefined && isCut && (await speaksTls(url))) {
    return otherProtocol(at, 'http', 'https');
  }
  return new QuotameshError('NODE_UNREACHABLE', { url: at, reason });
}

export function addressText({ url, socketPath }: NodeAddress): string {
  return socketPath === undefined ? url.origin : `${UNIX}${socketPath}`;
}

const CERTIFICATE_CODES = /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|^ERR_TLS_CERT_ALTNAME/;

function otherProtocol(url: string, asked: string, spoken: string): QuotameshError {
  return new QuotameshError('NODE_PROTOCOL', { url, asked, spoken });
}

/** Tests for TLS, whatever the certificate: nothing is sent. */
function speaksTls({ hostname: host, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false, timeout: PROBE_MS });
    const end = (speaks: boolean) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once('secureConnect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}
