import { TopicUnusable } from '../remote/topic-unusable.js';

/** What kafkajs hands to an authentication mechanism that it does not bring itself. */
interface SaslDialogue {
  saslAuthenticate(step: {
    readonly request: { encode(): Promise<Buffer> };
    readonly response: { decode(bytes: Buffer): Promise<string>; parse(text: string): Promise<string> };
  }): Promise<string>;
}

const SEPARATOR = '\u0001';
/** In Kafka's protocol the length of bytes stands before them; −1 = no bytes. */
const LENGTH_BYTES = 4;

/**
 * SASL OAUTHBEARER (RFC 7628) for kafkajs. kafkajs has its own, which ignores the answer: a broker that refuses a token
 * says why in a text, and then waits. Rejects with what `token` rejects with, or with TOPIC_DENIED.
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
