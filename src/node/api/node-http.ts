import type { IncomingMessage, ServerResponse } from 'node:http';

/** The HTTP of a node inside of a service: the live page, the API, metrics, health. */
export interface NodeHttp {
  /** Where the node listens: `http://127.0.0.1:7070`, or `unix:/path`; null with `http: 'handler'`. */
  readonly url: string | null;
  /**
   * Answers a request of a server of the service; its `url` must be without the path under which the service has it
   * (docs/guide/embedding.md). Express gives it as it must be: `app.use('/quotas', node.http.handler)`.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
}
