import { expect, test } from 'vitest';
import { shownLimit } from '../../../../src/doors/envoy/rules/compile-rules.js';
import { entriesOf, rulesOf } from './rules-of.js';

/**
 * What the README of envoyproxy/ratelimit documents (commit f2fb157, examples 1 to 11), by files of our own. A row is a
 * descriptor, and the limit and bucket that it finds; null = nothing limits it.
 */
interface Example {
  readonly about: string;
  readonly yaml: string;
  readonly finds: readonly (readonly [descriptor: string, limit: string | null, bucket?: string])[];
}

const EXAMPLES: readonly Example[] = [
  {
    about: 'key and value',
    yaml: `
domain: databases
descriptors:
  - key: database
    value: users
    rate_limit: { unit: second, requests_per_unit: 500 }
  - key: database
    value: default
    rate_limit: { unit: second, requests_per_unit: 400 }`,
    finds: [
      ['database=users', '500/s, burst 500', 'databases/database:users'],
      ['database=default', '400/s, burst 400', 'databases/database:default'],
      ['database=orders', null],
      ['table=users', null],
    ],
  },
  {
    about: 'nested descriptors, and a limit for each value',
    yaml: `
domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit: { unit: day, requests_per_unit: 5 }
  - key: to_number
    rate_limit: { unit: day, requests_per_unit: 100 }`,
    finds: [
      [
        'message_type=marketing, to_number=2061111111',
        '5/d, burst 5',
        'messaging/message_type:marketing/to_number@2061111111',
      ],
      [
        'message_type=marketing, to_number=2062222222',
        '5/d, burst 5',
        'messaging/message_type:marketing/to_number@2062222222',
      ],
      ['to_number=2061111111', '100/d, burst 100', 'messaging/to_number@2061111111'],
      ['message_type=marketing', null],
    ],
  },
  {
    about: 'the most specific first: key and value before the key alone',
    yaml: `
domain: per_ip
descriptors:
  - key: remote_address
    rate_limit: { unit: second, requests_per_unit: 10 }
  - key: remote_address
    value: 50.0.0.5
    rate_limit: { unit: second, requests_per_unit: 0 }`,
    finds: [
      ['remote_address=50.0.0.1', '10/s, burst 10', 'per_ip/remote_address@50.0.0.1'],
      ['remote_address=50.0.0.5', '0/s', 'per_ip/remote_address:50.0.0.5'],
    ],
  },
  {
    about: 'as many levels as entries',
    yaml: `
domain: levels
descriptors:
  - key: key
    value: one
    rate_limit: { unit: second, requests_per_unit: 300 }
  - key: key
    value: two
    descriptors:
      - key: subkey
        rate_limit: { unit: second, requests_per_unit: 300 }`,
    finds: [
      ['key=one, subkey=x', null],
      ['key=one', '300/s, burst 300', 'levels/key:one'],
      ['key=two, subkey=x', '300/s, burst 300', 'levels/key:two/subkey@x'],
      ['key=two', null],
    ],
  },
  {
    about: 'unlimited',
    yaml: `
domain: internal
descriptors:
  - key: ldap
    rate_limit: { unlimited: true }
  - key: azure
    rate_limit: { unit: minute, requests_per_unit: 100 }`,
    finds: [
      ['ldap=x', 'unlimited'],
      ['azure=x', '100/min, burst 100', 'internal/azure@x'],
    ],
  },
  {
    about: 'shadow_mode',
    yaml: `
domain: shadowed
descriptors:
  - key: service
    descriptors:
      - key: user
        value: user-a
        rate_limit: { unit: second, requests_per_unit: 10 }
        shadow_mode: true
      - key: user
        value: user-b
        rate_limit: { unit: second, requests_per_unit: 20 }`,
    finds: [
      ['service=auth, user=user-a', '10/s, burst 10, shadow', 'shadowed/service@auth/user:user-a'],
      ['service=auth, user=user-b', '20/s, burst 20', 'shadowed/service@auth/user:user-b'],
      ['service=mail, user=user-b', '20/s, burst 20', 'shadowed/service@mail/user:user-b'],
    ],
  },
  {
    about: 'detailed_metric changes no limit',
    yaml: `
domain: detailed
descriptors:
  - key: key1
    detailed_metric: true
    rate_limit: { unit: minute, requests_per_unit: 10 }
  - key: key1
    value: value1
    rate_limit: { unit: minute, requests_per_unit: 20 }`,
    finds: [
      ['key1=other', '10/min, burst 10', 'detailed/key1@other'],
      ['key1=value1', '20/min, burst 20', 'detailed/key1:value1'],
    ],
  },
  {
    about: 'wildcards at the end, within, and several',
    yaml: `
domain: wild
descriptors:
  - key: key1
    value: value*
    rate_limit: { unit: minute, requests_per_unit: 20 }
  - key: path
    value: /api/*/action
    rate_limit: { unit: minute, requests_per_unit: 20 }
  - key: route
    value: /api/*/resource/*/action
    rate_limit: { unit: minute, requests_per_unit: 20 }`,
    finds: [
      ['key1=value1', '20/min, burst 20', 'wild/key1:value~2A@value1'],
      ['key1=value', '20/min, burst 20', 'wild/key1:value~2A@value'],
      ['key1=valu', null],
      ['path=/api/123/action', '20/min, burst 20', 'wild/path:~2Fapi~2F~2A~2Faction@~2Fapi~2F123~2Faction'],
      ['path=/api/123/other', null],
      ['route=/api/v1/resource/123/action', '20/min, burst 20'],
      ['route=/api/v1/123/action', null],
    ],
  },
  {
    about: 'value_to_metric changes no limit, below keys without values',
    yaml: `
domain: routes
descriptors:
  - key: route
    value_to_metric: true
    descriptors:
      - key: http_method
        value_to_metric: true
        descriptors:
          - key: subject_id
            rate_limit: { unit: minute, requests_per_unit: 60 }`,
    finds: [
      [
        'route=api, http_method=GET, subject_id=123',
        '60/min, burst 60',
        'routes/route@api/http_method@GET/subject_id@123',
      ],
      [
        'route=web, http_method=POST, subject_id=123',
        '60/min, burst 60',
        'routes/route@web/http_method@POST/subject_id@123',
      ],
    ],
  },
  {
    about: 'share_threshold: one limit for all values of a wildcard',
    yaml: `
domain: shared
descriptors:
  - key: files
    value: files/*
    share_threshold: true
    rate_limit: { unit: hour, requests_per_unit: 10 }
  - key: files_no_share
    value: files_no_share/*
    rate_limit: { unit: hour, requests_per_unit: 10 }
  - key: route
    value: api/*
    share_threshold: true
    descriptors:
      - key: method
        rate_limit: { unit: minute, requests_per_unit: 60 }`,
    finds: [
      ['files=files/a.pdf', '10/h, burst 10', 'shared/files:files~2F~2A'],
      ['files=files/b.csv', '10/h, burst 10', 'shared/files:files~2F~2A'],
      [
        'files_no_share=files_no_share/a.pdf',
        '10/h, burst 10',
        'shared/files_no_share:files_no_share~2F~2A@files_no_share~2Fa.pdf',
      ],
      [
        'files_no_share=files_no_share/b.pdf',
        '10/h, burst 10',
        'shared/files_no_share:files_no_share~2F~2A@files_no_share~2Fb.pdf',
      ],
      ['route=api/v1, method=GET', '60/min, burst 60', 'shared/route:api~2F~2A/method@GET'],
      ['route=api/v2, method=GET', '60/min, burst 60', 'shared/route:api~2F~2A/method@GET'],
    ],
  },
];

const ROWS = EXAMPLES.flatMap(({ about, yaml, finds }) => {
  return finds.map(([descriptor, limit, bucket]) => ({ about, yaml, descriptor, limit, bucket }));
});

test.each(ROWS)('$about: $descriptor', ({ yaml, descriptor, limit, bucket }) => {
  const rules = rulesOf(yaml);
  const [domain = ''] = rules.domains.keys();
  const entries = entriesOf(descriptor);
  const rule = rules.find(domain, entries);
  expect(rule && shownLimit(rule)).toBe(limit);
  if (bucket !== undefined) expect(rule?.bucketOf(domain, entries)).toBe(bucket);
  expect(rules.find('another', entries)).toBe(null);
});

test('what is replaced, and what is refused with others alone, is told with the rule', () => {
  const rules = rulesOf(`
domain: replaced
descriptors:
  - key: key_1
    descriptors:
      - key: user
        rate_limit: { name: narrow, unit: second, requests_per_unit: 5 }
  - key: key_2
    quota_mode: true
    rate_limit: { replaces: [{ name: narrow }], unit: second, requests_per_unit: 10 }`);
  const [narrow, wide] = rules.all;
  expect(narrow).toMatchObject({ label: 'narrow', replaces: [], isQuota: false });
  expect(wide).toMatchObject({ label: '', replaces: ['narrow'], isQuota: true });
});
