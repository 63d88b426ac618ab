import type { PeerCertificate } from 'node:tls';

/**
 * The names of a client certificate as rules write them: `CN=broker-1`, `DNS:broker-1.example`, `URI:spiffe://example/broker`,
 * `email:ops@example.org`. Node.js quotes alternative names with characters that could pass for another entry: they are left out, and so is a
 * subject with several common names, because nobody can say which of them was verified.
 */
export function namesIn({ subject, subjectaltname }: Pick<PeerCertificate, 'subject' | 'subjectaltname'>): string[] {
  const commonName: unknown = subject?.CN;
  const alternative = (subjectaltname ?? '').split(', ').filter((entry) => /^(DNS|URI|email):[^"]+$/.test(entry));
  return [...alternative, ...(typeof commonName === 'string' ? [`CN=${commonName}`] : [])];
}

/** `*` stands for anything but `.`, `/` and `:`, as a label does in TLS. */
export function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^./:]*')}$`).test(name);
}
