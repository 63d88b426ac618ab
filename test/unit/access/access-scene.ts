import { writtenHash } from '../../../src/base/access/token.js';

/** A token for each caller of the tests. */
export const TOKENS = {
  admin: 'qm_admin-0123456789',
  operator: 'qm_operator-0123456789',
  consume: 'qm_consume-0123456789',
  traffic: 'qm_traffic-0123456789',
  viewer: 'qm_viewer-0123456789',
  acme: 'qm_acme-0123456789',
} as const;
export type Who = keyof typeof TOKENS;

/** As in YAML: one token per role, and an operator of one tenant. */
export const AUTH = {
  tokens: Object.entries(TOKENS).map(([name, token]) => {
    const granted = name === 'acme' ? { roles: ['operator'], tenants: ['acme'] } : { roles: [name] };
    return { name, ...granted, hash: writtenHash(token) };
  }),
};

/** Allows every caller to be tried on every route from one address. */
export const MANY_FAILURES = { auth: { failuresPerMinute: 1_000_000 } };

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}
