import { expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../src/base/errors/catalogue.js';
import { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';

/** Ends a line, clears a terminal, and turns the direction of what follows. */
const STEERS = 'x\n\u001b[2J\u202e';
const FACTS = new Proxy({}, { get: () => STEERS });

it.for(Object.keys(ERROR_CATALOGUE) as ErrorCode[])('%s stays on its line, whatever its facts hold', (code) => {
  const { message, remedy } = new QuotameshError(code, FACTS);
  const lines = ERROR_CATALOGUE[code].message.includes('\n') ? message.split('\n') : [message];
  for (const line of [...lines, remedy]) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
