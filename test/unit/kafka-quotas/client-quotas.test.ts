import { expect, test } from 'vitest';
import { changesOf, describedQuotas } from '../../../src/doors/kafka-quotas/entity-parts.js';
import { alterClientQuotas, describeClientQuotas } from '../../../src/topic/kafka/client-quotas-1.js';

/** Bytes by hand, as kafka.apache.org/protocol has them; blanks and what is in brackets mean nothing. */
function bytes(text: string): Buffer {
  return Buffer.from(text.replace(/\[[^\]]*\]/g, '').replace(/\s/g, ''), 'hex');
}

test('AlterClientQuotas 1 has the bytes of the protocol', () => {
  const changes = changesOf([
    { entity: { user: null, clientId: 'app' }, name: 'producer_byte_rate', value: 400_000 },
    { entity: { user: null, clientId: 'app' }, name: 'consumer_byte_rate', value: null },
    { entity: { user: '<default>', clientId: null }, name: 'producer_byte_rate', value: 1 },
  ]);
  expect(alterClientQuotas(changes).body.toString('hex')).toBe(
    bytes(`00 [tags of the header] 03 [two entities]
      02 [one part] 0a 636c69656e742d6964 [client-id] 04 617070 [app] 00
      03 [two changes]
      13 70726f64756365725f627974655f72617465 [producer_byte_rate] 41186a0000000000 [400,000] 00 [not removed] 00
      13 636f6e73756d65725f627974655f72617465 [consumer_byte_rate] 0000000000000000 01 [removed] 00
      00 [tags]
      02 05 75736572 [user] 00 [null: the default] 00
      02 13 70726f64756365725f627974655f72617465 3ff0000000000000 [1] 00 00
      00 [tags]
      00 [not only validated] 00 [tags]`).toString('hex'),
  );
});

test('AlterClientQuotas 1: what Kafka has not taken', () => {
  const answer = bytes(`00 [tags] 00000000 [throttled] 03
    0000 00 [no message] 02 0a 636c69656e742d6964 04 617070 00 00
    002a 04 62616f [bad → "bao"] 02 05 75736572 00 00 00
    00`);
  expect(alterClientQuotas([]).decode(answer)).toEqual([
    { errorCode: 0, errorMessage: null, entity: [{ type: 'client-id', name: 'app' }] },
    { errorCode: 42, errorMessage: 'bao', entity: [{ type: 'user', name: null }] },
  ]);
});

test('DescribeClientQuotas 1 asks for all, and reads what there is', () => {
  const { body, decode } = describeClientQuotas();
  expect(body.toString('hex')).toBe(bytes('00 [tags] 01 [no component] 00 [not strict] 00').toString('hex'));
  const described = decode(
    bytes(`00 00000000 0000 00 [no message] 04 [three]
      02 0a 636c69656e742d6964 00 [default] 00 02 13 70726f64756365725f627974655f72617465 430c6bf526340000 00 00
      03 05 75736572 06 616c696365 00 0a 636c69656e742d6964 04 617070 00
      03 13 70726f64756365725f627974655f72617465 41186a0000000000 00
      13 726571756573745f70657263656e746167ff [another quota] 4049000000000000 00 00
      02 03 6970 04 312e31 00 02 13 70726f64756365725f627974655f72617465 3ff0000000000000 00 00 [of an address]
      00`),
  );
  expect(describedQuotas(described.entities)).toEqual([
    { entity: { user: null, clientId: '<default>' }, name: 'producer_byte_rate', value: 1e15 },
    { entity: { user: 'alice', clientId: 'app' }, name: 'producer_byte_rate', value: 400_000 },
  ]);
});

test('an answer that ends too early is an error, not a quota', () => {
  expect(() => describeClientQuotas().decode(bytes('00 00000000 0000 00 04 02'))).toThrow(RangeError);
});
