import type { Socket } from 'node:net';
import type { HeldBytes } from './held-bytes.js';
import { apart, NOTHING } from './packets.js';
import { KEPT_BYTES } from './room-taken.js';
import type { WriteLine } from './write-line.js';

interface WriterCalls {
  readonly cutOff: (reason: string) => void;
  /** Called when its bytes may have changed. */
  readonly onCounted: () => void;
  /** Called when the system has taken a write. */
  readonly onTaken: () => void;
}

interface Unwritten {
  /** All of it, or what comes before the payload. */
  readonly packet: Buffer;
  readonly payload: Buffer;
  /** Bytes of the payload that are written. */
  at: number;
}

/**
 * Writes packets to a client's socket in their order. Of a shared payload it writes one piece at a time. The next piece
 * goes when the system has taken the last, and when all sockets together have room. *Why:* TLS encrypts, thus copies,
 * at once whatever its socket is given: a megabyte for 1,000 clients would become a gigabyte in one turn of the event
 * loop.
 */
export class PacketWriter {
  readonly #socket: Socket;
  readonly #held: HeldBytes;
  readonly #line: WriteLine;
  readonly #calls: WriterCalls;
  readonly #onTaken: () => void;
  readonly #unwritten: Unwritten[] = [];
  #unwrittenBytes = 0;
  /** Bytes of `unwritten` without shared payloads. */
  #ownBytes = 0;
  /** Writes of which the socket still holds something. */
  #unsent = 0;
  #taken = 0;

  constructor(socket: Socket, held: HeldBytes, line: WriteLine, calls: WriterCalls) {
    this.#socket = socket;
    this.#held = held;
    this.#line = line;
    this.#calls = calls;
    this.#onTaken = () => {
      this.#unsent--;
      this.#taken++;
      this.count();
      if (this.#mayWrite()) this.goOn();
      calls.onTaken();
    };
  }

  /** Bytes given to the socket and not passed on to the system. */
  get socketBytes(): number {
    const { writableLength, destroyed } = this.#socket;
    return writableLength === 0 || destroyed ? 0 : writableLength + this.#unsent * KEPT_BYTES;
  }

  /** Bytes that wait for the client to read. */
  get unreadBytes(): number {
    return this.socketBytes + this.#unwrittenBytes;
  }

  /** Memory that is held for this client alone. */
  get heldBytes(): number {
    return this.socketBytes + this.#ownBytes;
  }

  /** Writes that the system has taken: changes as the client reads. */
  get taken(): number {
    return this.#taken;
  }

  /** @param payload shared with others, if the packet does not hold it */
  send(packet: Buffer, payload: Buffer): void {
    if (payload.length === 0 && this.#unwritten.length === 0) {
      this.#write(this.#socket.writableLength === 0 ? packet : apart(packet), NOTHING);
      this.count();
      return;
    }
    this.#held.share(payload);
    this.#unwritten.push({ packet: apart(packet), payload, at: 0 });
    this.#unwrittenBytes += packet.length + payload.length;
    this.#ownBytes += packet.length + KEPT_BYTES;
    if (this.#mayWrite()) this.goOn();
    else this.count();
  }

  /** Writes one piece in its turn, and goes on while it may. */
  goOn(): void {
    do this.#writeNext();
    while (this.#mayWrite());
  }

  count(): void {
    this.#line.setUnsent(this, this.socketBytes, this.#taken);
    this.#calls.onCounted();
  }

  cutOff(reason: string): void {
    this.#calls.cutOff(reason);
  }

  /** Gives up what is not written. */
  close(): void {
    for (const { payload } of this.#unwritten.splice(0)) this.#held.unshare(payload);
    this.#unwrittenBytes = 0;
    this.#ownBytes = 0;
    this.#line.leave(this);
    this.count();
  }

  #mayWrite(): boolean {
    if (this.#unwritten.length === 0) return false;
    if (this.#unwritten[0].payload.length === 0) return true;
    return this.#socket.writableLength === 0 && this.#line.mayWrite(this);
  }

  #writeNext(): void {
    const next = this.#unwritten[0];
    const { packet, payload, at } = next;
    const piece = payload.length <= PIECE_BYTES ? payload : payload.subarray(at, at + PIECE_BYTES);
    next.at += piece.length;
    if (next.at === payload.length) {
      this.#unwritten.shift();
      this.#held.unshare(payload);
      this.#ownBytes -= packet.length + KEPT_BYTES;
    }
    const head = at === 0 ? packet : NOTHING;
    this.#unwrittenBytes -= head.length + piece.length;
    this.#write(head, piece);
    this.count();
  }

  #write(head: Buffer, piece: Buffer): void {
    this.#unsent++;
    if (head.length === 0 || piece.length === 0) {
      this.#socket.write(piece.length === 0 ? head : piece, this.#onTaken);
      return;
    }
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(piece, this.#onTaken);
    this.#socket.uncork();
  }
}

/** Bytes of a piece. Less tells sooner who reads, and lets more clients read side by side; more takes fewer turns. */
const PIECE_BYTES = 64 * 1024;
