import { FILES } from '../generated/descriptors.js';
import { grpc } from '../generated/messages.js';
import { decoded } from './decoded.js';
import type { MessageListener, MessageStream, StreamMethod } from './grpc-method.js';
import { GRPC_STATUS } from './grpc-status.js';

const { ServerReflectionRequest, ServerReflectionResponse } = grpc.reflection.v1;

/**
 * Lists services, and describes their messages. Those of grpc.reflection.v1 and v1alpha are the same. It has one file
 * per package: with the fields of it that this listener knows.
 */
export class ReflectionService {
  readonly methods: readonly StreamMethod[];
  readonly #services: readonly string[];

  constructor(services: readonly string[]) {
    this.#services = [...services, ...OWN_SERVICES].sort();
    this.methods = OWN_SERVICES.map((service) => ({
      kind: 'stream',
      path: `/${service}/ServerReflectionInfo`,
      needs: 'any',
      maxRequestBytes: REQUEST_BYTES_MAX,
      open: (stream) => this.#open(stream),
    }));
  }

  #open(stream: MessageStream): MessageListener {
    return {
      message: (bytes) => {
        const request = decoded(ServerReflectionRequest, bytes);
        const answer = { validHost: request.host, originalRequest: request, ...this.#answerTo(request) };
        stream.send(ServerReflectionResponse.encode(answer).finish());
      },
      ended: () => stream.end(),
      closed: () => undefined,
    };
  }

  #answerTo({ messageRequest, ...asked }: InstanceType<typeof ServerReflectionRequest>): Answer {
    if (messageRequest === 'listServices') {
      return { listServicesResponse: { service: this.#services.map((name) => ({ name })) } };
    }
    const { fileByFilename, fileContainingSymbol: symbol } = asked;
    const file =
      messageRequest === 'fileByFilename'
        ? FILES.find(({ name }) => name === fileByFilename)
        : FILES.find(({ symbols }) => symbols.includes(symbol ?? ''));
    if (file === undefined) return NOT_FOUND;
    const files = withNeeded([file]);
    return { fileDescriptorResponse: { fileDescriptorProto: files.map(({ bytes }) => Buffer.from(bytes, 'base64')) } };
  }
}

type File = (typeof FILES)[number];
type Answer = Omit<grpc.reflection.v1.IServerReflectionResponse, 'validHost' | 'originalRequest'>;

/** Adds the files that these need, each once. */
function withNeeded(files: readonly File[]): readonly File[] {
  const names = files.flatMap(({ needs }) => needs).filter((name) => !files.some((file) => file.name === name));
  const more = FILES.filter(({ name }) => names.includes(name));
  return more.length === 0 ? files : withNeeded([...files, ...more]);
}

const NOT_FOUND: Answer = {
  errorResponse: { errorCode: GRPC_STATUS.NOT_FOUND, errorMessage: 'this listener knows no such name' },
};
const OWN_SERVICES = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];
const REQUEST_BYTES_MAX = 4096;
