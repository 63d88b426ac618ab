import { TopicUnusable } from '../remote/topic-unusable.js';

/** What kafkajs hands to an authentication of one's own. */
interface SaslDialogue {
  saslAuthenticate(step: {
    readonly request: { encode(): Promise<Buffer> };
    readonly response: { decode(bytes: Buffer): Promise<string>; parse(text: string): Promise<string> };
  }): Promise<string>;
}

const SEPARATOR = '\u0001';
/** Bytes of Kafka's protocol stand behind their length; -1 = none. */
const LENGTH_BYTES = 4;

/**
 * SASL OAUTHBEARER (RFC 7628) for kafkajs, in place of its own, which takes no notice of the answer: a broker refuses a
 * token with a text, and waits. Rejects with what `token` rejects with, or with TOPIC_DENIED.
 */
export function oauthBearer(topic: string, token: () => Promise<string>) {
  return ({ saslAuthenticate }: SaslDialogue) => ({
    authenticate: async () => {
      const message = Buffer.from(`n,,${SEPARATOR}auth=Bearer ${await token()}${SEPARATOR}${SEPARATOR}`);
      const refusal = await saslAuthenticate({
        request: { encode: async () => behindLength(message) },
        response: { decode: async (bytes) => bytes.subarray(LENGTH_BYTES).toString(), parse: async (text) => text },
      });
      if (refusal === '') return;
      throw new TopicUnusable('TOPIC_DENIED', { topic, reason: `connecting: Kafka refuses the token: ${refusal}` });
    },
  });
}

function behindLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
