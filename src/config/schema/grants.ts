import { z } from 'zod';
import type { CertificateRule, TokenConfig } from '../../base/access/access-config.js';
import { ROLES } from '../../base/access/caller.js';
import { HASH_PREFIX, looksLikeToken } from '../../base/access/token.js';
import { told } from '../../base/input/input-mistakes.js';
import { NODE_NAME } from '../setting/setting.js';

const HASH = new RegExp(`^${HASH_PREFIX}[0-9a-f]{64}$`, 'i');
const NAME = z.string().regex(NODE_NAME.matches);

const GRANTED = {
  roles: told(z.array(z.enum(ROLES)).min(1), `a list of ${ROLES.join(', ')}`),
  tenants: told(
    z
      .array(z.string().regex(/^[\w.:@+~=-]{1,128}$/))
      .min(1)
      .nullish(),
    'a list of tenants',
  ),
};

/** A bearer token, as YAML has it: its hash. */
export const TOKEN = z
  .strictObject({
    name: told(
      NAME.refine((name) => !looksLikeToken(name)),
      NODE_NAME.text,
    ),
    hash: told(
      z.string().refine((hash) => HASH.test(hash)),
      { allowed: `${HASH_PREFIX} and 64 hexadecimal digits, as \`quotamesh token new\` prints them`, secret: true },
    ),
    ...GRANTED,
  })
  .superRefine(checkTenants)
  .transform(({ tenants = null, hash, ...others }): TokenConfig => {
    return { ...others, hash: hash.slice(HASH_PREFIX.length).toLowerCase(), tenants };
  });

/** Names a caller by a name in its client certificate. */
export const CERTIFICATE = z
  .strictObject({
    match: told(
      z.string().regex(/^(?:CN|DNS|URI|email)[=:][^\s,"]{1,250}$/),
      'a name of the certificate: "CN=broker-*", "DNS:broker.example", "URI:spiffe://example/broker" or "email:…"',
    ),
    name: told(NAME.nullish(), NODE_NAME.text),
    ...GRANTED,
  })
  .superRefine(checkTenants)
  .transform(({ tenants = null, name = null, ...others }): CertificateRule => ({ ...others, name, tenants }));

interface Granted {
  readonly roles: readonly string[];
  readonly tenants?: readonly string[] | null | undefined;
}

function checkTenants({ roles, tenants }: Granted, context: z.core.$RefinementCtx): void {
  if ((tenants ?? null) === null || roles.includes('admin') || roles.includes('operator')) return;
  const message = `limits changes, and ${roles.join(', ')} cannot change anything`;
  const params = {
    allowed: 'tenants with the roles admin or operator',
    remedy: 'Remove tenants, or give the role operator.',
  };
  context.addIssue({ code: 'custom', path: ['tenants'], message, params });
}
