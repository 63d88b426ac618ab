import { connect } from 'node:http2';
import { parse, type Type } from 'protobufjs';

/** What is asked and answered, of envoy/service/ratelimit/v3/rls.proto. */
const PROTO = `syntax = "proto3";
message Entry { string key = 1; string value = 2; }
message Descriptor { repeated Entry entries = 1; }
message Request { string domain = 1; repeated Descriptor descriptors = 2; uint32 hits_addend = 3; }
message Response { uint32 overall_code = 1; }`;
const OK = 1;
const OVER_LIMIT = 2;
const HEADER_BYTES = 5;
export const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

/** gRPC without a library, which would cost the client more than the service needs: all calls on one connection. */
export class RateLimitClient {
  readonly connected: Promise<void>;
  readonly #session;
  readonly #request: Buffer;
  readonly #response: Type;

  /** @param value of the one entry of the descriptor */
  constructor(port: number, domain: string, value: string, key = 'key') {
    this.#response = parse(PROTO).root.lookupType('Response');
    this.#request = RateLimitClient.requestOf(domain, value, key);
    this.#session = connect(`http://127.0.0.1:${port}`);
    this.#session.on('error', () => undefined);
    this.connected = new Promise((resolve) => this.#session.once('connect', () => resolve()));
  }

  /** Returns a request as a frame of gRPC. */
  static requestOf(domain: string, value: string, key: string): Buffer {
    const message = { domain, descriptors: [{ entries: [{ key, value }] }], hitsAddend: 1 };
    const body = parse(PROTO).root.lookupType('Request').encode(message).finish();
    const request = Buffer.alloc(HEADER_BYTES + body.length);
    request.writeUInt32BE(body.length, 1);
    request.set(body, HEADER_BYTES);
    return request;
  }

  ask(): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request(HEADERS);
      const chunks: Buffer[] = [];
      let status: unknown;
      const read = (headers: Record<string, unknown>) => {
        status = headers['grpc-status'] ?? status;
      };
      stream.on('response', read);
      stream.on('trailers', read);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => {
        if (Number(status) !== 0) return reject(new Error(`grpc-status ${status}`));
        const { overallCode: code } = this.#codeOf(Buffer.concat(chunks));
        if (code !== OK && code !== OVER_LIMIT) return reject(new Error(`code ${code}`));
        resolve(code === OK);
      });
      stream.end(this.#request);
    });
  }

  close(): void {
    this.#session.destroy();
  }

  #codeOf(answer: Buffer): { overallCode?: number } {
    return this.#response.toObject(this.#response.decode(answer.subarray(HEADER_BYTES)));
  }
}

const HEADERS = {
  ':method': 'POST',
  ':path': PATH,
  'content-type': 'application/grpc',
  te: 'trailers',
};
