import type { ErrorRow } from './error-row.js';

export const ACCESS_ERRORS = {
  AUTH_FAILED: {
    message: 'this node asks who you are: {reason}',
    remedy:
      'Send `Authorization: Bearer` and a token of auth.tokens (CLI: --token-file or QUOTAMESH_TOKEN; MQTT: as password), or a client certificate of auth.certificates.',
    httpStatus: 401,
  },
  AUTH_LIMITED: {
    message: 'too many failed attempts from {address}: the next is looked at in {retryAfterS} s',
    remedy:
      'Correct the token, and wait for Retry-After. Tokens that were accepted from there before still work. An address may fail `auth.failuresPerMinute` times a minute, by default 30 times.',
    httpStatus: 429,
  },
  ROLE_MISSING: {
    message: '{caller} may not {what}: that takes the role {needs}, and it has {roles}',
    remedy: 'Use a token or certificate with that role (docs/operate/access.md lists what each may do).',
    httpStatus: 403,
  },
  PAGE_DENIED: {
    message: 'a web page sent this request without a token: {reason}',
    remedy:
      'Ask from a program or with `quotamesh`; open the live page by the address that the node listens on (127.0.0.1; localhost with `http.host: localhost`). Pages of your own need `auth:` and a token (docs/operate/access.md).',
    httpStatus: 403,
  },
  TENANT_DENIED: {
    message: '{caller} may change attachments of {tenants} alone: not {what}',
    remedy: 'Use a token or certificate without tenants, or with this one.',
    httpStatus: 403,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
