import { TopicUnusable } from '../remote/topic-unusable.js';

/** Arguments of kafkajs to foreign authentication mechanisms. */
interface SaslDialogue {
  saslAuthenticate(step: {
    readonly request: { encode(): Promise<Buffer> };
    readonly response: { decode(bytes: Buffer): Promise<string>; parse(text: string): Promise<string> };
  }): Promise<string>;
}

const SEPARATOR = '\u0001';
/** Bytes of a length in Kafka's protocol; −1 = no bytes. */
const LENGTH_BYTES = 4;

/**
 * Authenticates by SASL OAUTHBEARER (RFC 7628). kafkajs's own ignores the broker's reason for refusing a token. Rejects
 * with what `token` does, or TOPIC_DENIED.
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
