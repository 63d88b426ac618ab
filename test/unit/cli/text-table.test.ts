import { expect, it } from 'vitest';
import { textTable } from '../../../src/tools/terminal/text-table.js';

it('has one line per row, whatever stands in it: a certificate has many', () => {
  const rows = [
    ['http.tls.cert', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n', '20'],
    ['http.port', '7070', '7'],
  ];
  expect(textTable(['KEY', 'VALUE', 'LINE'], rows, ['LINE'])).toEqual([
    'KEY            VALUE                          LINE',
    'http.tls.cert  -----BEGIN CERTIFICATE----- …    20',
    'http.port      7070                              7',
  ]);
});
