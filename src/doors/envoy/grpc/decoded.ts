import { type Reader as AnyReader, Reader } from 'protobufjs/minimal.js';
import { messageOf, QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Reads a message; fields that this version does not know are left out. Throws GRPC_REQUEST_INVALID. */
export function decoded<Message>(type: Decodable<Message>, bytes: Uint8Array): Message {
  const reader = Reader.create(bytes);
  reader.discardUnknown = true;
  try {
    return type.decode(reader);
  } catch (error) {
    throw new QuotameshError('GRPC_REQUEST_INVALID', { reason: `it is no such message (${messageOf(error)})` });
  }
}

interface Decodable<Message> {
  decode(reader: AnyReader): Message;
}
