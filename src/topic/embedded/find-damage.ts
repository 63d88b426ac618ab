import { type FileHandle, open } from 'node:fs/promises';
import { FILE_BYTES_MAX } from './log-store.js';

/** Fields of LMDB's pages by lmdb 3.5.6 (data version 2). */
const PAGE = { flagsAt: 18, lowerAt: 20, upperAt: 22, countAt: 20, headBytes: 24 };
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 65_536;
const NODE = { flagsAt: 4, keyBytesAt: 6, headBytes: 8 };
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
/** Flag of a node whose value stands in pages of its own. */
const IS_ELSEWHERE = 0x01;
const META = {
  magicAt: 24,
  versionAt: 28,
  pageSizeAt: 48,
  rootsAt: [88, 136],
  lastPageAt: 144,
  commitAt: 152,
  bytes: 160,
};
const META_MAGIC = 0xbeefc0de;
const META_VERSION = 2;
const NO_ROOT = 0xffff_ffff_ffff_ffffn;
/** Most walks while others commit. */
const WALKS_MAX = 3;

export interface LogMeta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly roots: readonly bigint[];
  /** Number of the commit. */
  readonly commit: bigint;
}

/** Reads the meta page at a position; undefined = there is none. */
export async function readMeta(file: FileHandle, from: number): Promise<LogMeta | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(META.bytes), 0, META.bytes, from);
  if (bytesRead < META.bytes) return undefined;
  if (buffer.readUInt32LE(META.magicAt) !== META_MAGIC) return undefined;
  if ((buffer.readUInt32LE(META.versionAt) & 0xffff) !== META_VERSION) return undefined;
  return {
    pageSize: buffer.readUInt32LE(META.pageSizeAt),
    lastPage: Number(buffer.readBigUInt64LE(META.lastPageAt)),
    roots: META.rootsAt.map((at) => buffer.readBigUInt64LE(at)),
    commit: buffer.readBigUInt64LE(META.commitAt),
  };
}

/**
 * Finds a page of the newest commit that cannot be one; undefined = none. Every page says its number, and where its
 * nodes stand. *Why:* LMDB follows the numbers in damaged pages out of its map, and the process ends with SIGBUS.
 * A log of 50 MB takes some 100 ms.
 */
export async function findDamage(dataFile: string): Promise<string | undefined> {
  const file = await open(dataFile, 'r');
  try {
    for (let walk = 0; walk < WALKS_MAX; walk++) {
      const meta = await newestMeta(file);
      if (meta === undefined) return 'it has no page that says where the log begins';
      const damaged = await damagedPage(file, meta);
      if (damaged === undefined) return undefined;
      // Without a common gate another process may have written the page anew.
      if ((await newestMeta(file))?.commit === meta.commit) return `page ${damaged} is not what the log needs there`;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

/** Reads the newer one of both meta pages; undefined = one of them cannot be one. */
export async function newestMeta(file: FileHandle): Promise<LogMeta | undefined> {
  const first = await readMeta(file, 0);
  if (!first || !isPossible(first)) return undefined;
  const other = await readMeta(file, first.pageSize);
  if (!other || !isPossible(other) || other.pageSize !== first.pageSize) return undefined;
  return other.commit > first.commit ? other : first;
}

function isPossible({ pageSize, lastPage }: LogMeta): boolean {
  if (pageSize < PAGE_BYTES_MIN || pageSize > PAGE_BYTES_MAX || !Number.isInteger(Math.log2(pageSize))) return false;
  return (lastPage + 1) * pageSize <= FILE_BYTES_MAX;
}

/** Page that another points to. */
interface DuePage {
  readonly page: bigint;
  /** Bytes of the value that begins there; null = a page of a tree. */
  readonly valueBytes: number | null;
}

/** Walks the trees of the free list and of the log. */
async function damagedPage(file: FileHandle, { roots, lastPage, pageSize }: LogMeta): Promise<bigint | undefined> {
  const due: DuePage[] = roots.filter((root) => root !== NO_ROOT).map((page) => ({ page, valueBytes: null }));
  const { size } = await file.stat();
  // Used pages are in the file, free ones may be missing.
  const pages = Math.min(lastPage + 1, Math.floor(size / pageSize));
  const seen = new Set<bigint>();
  const buffer = Buffer.alloc(pageSize);
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    const { page, valueBytes } = next;
    if (page >= pages || seen.has(page)) return page;
    seen.add(page);
    const { bytesRead } = await file.read(buffer, 0, pageSize, Number(page) * pageSize);
    if (bytesRead < pageSize || buffer.readBigUInt64LE(0) !== page) return page;
    const flags = buffer.readUInt16LE(PAGE.flagsAt) & (BRANCH | LEAF | OVERFLOW);
    if (valueBytes !== null) {
      const count = buffer.readUInt32LE(PAGE.countAt);
      const isWhole = PAGE.headBytes + valueBytes <= count * pageSize && Number(page) + count <= pages;
      if (flags !== OVERFLOW || !isWhole) return page;
      continue;
    }
    const pointed = flags === BRANCH || flags === LEAF ? pagesOf(buffer, flags === BRANCH) : undefined;
    if (pointed === undefined) return page;
    due.push(...pointed);
  }
  return undefined;
}

/** Lists the pages that a tree's page points to; undefined = a node stands outside. */
function pagesOf(page: Buffer, isBranch: boolean): DuePage[] | undefined {
  // LMDB counts positions from the end of the head on.
  const body = page.subarray(PAGE.headBytes);
  const [lower, upper] = [page.readUInt16LE(PAGE.lowerAt), page.readUInt16LE(PAGE.upperAt)];
  if (lower > upper || upper > body.length) return undefined;
  const pointed: DuePage[] = [];
  for (let at = 0; at < lower; at += 2) {
    const node = body.readUInt16LE(at);
    if (node < upper || node + NODE.headBytes > body.length) return undefined;
    const valueAt = node + NODE.headBytes + body.readUInt16LE(node + NODE.keyBytesAt);
    const flags = body.readUInt16LE(node + NODE.flagsAt);
    const low = body.readUInt32LE(node);
    const isElsewhere = !isBranch && (flags & IS_ELSEWHERE) !== 0;
    const valueBytes = isBranch ? 0 : isElsewhere ? 8 : low;
    if (valueAt + valueBytes > body.length) return undefined;
    if (isBranch) pointed.push({ page: BigInt(low) | (BigInt(flags) << 32n), valueBytes: null });
    if (isElsewhere) pointed.push({ page: body.readBigUInt64LE(valueAt), valueBytes: low });
  }
  return pointed;
}
