import { type FileHandle, open } from 'node:fs/promises';

/** Fields of LMDB's pages by lmdb 3.5.6 (data version 2). */
const PAGE = { flagsAt: 18, lowerAt: 20, upperAt: 22, headBytes: 24 };
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
    for (;;) {
      const meta = await newestMeta(file);
      if (meta === undefined) return 'it has no page that says where the log begins';
      const damaged = await damagedPage(file, meta);
      if (damaged === undefined) return undefined;
      // Without a common gate another process may have written the page anew.
      if ((await newestMeta(file))?.commit === meta.commit) return `page ${damaged} is not what the log needs there`;
    }
  } finally {
    await file.close();
  }
}

async function newestMeta(file: FileHandle): Promise<LogMeta | undefined> {
  const first = await readMeta(file, 0);
  const other = first && (await readMeta(file, first.pageSize));
  return first && other && other.commit > first.commit ? other : first;
}

/** Walks the trees of the free list and of the log. */
async function damagedPage(file: FileHandle, { roots, lastPage, pageSize }: LogMeta): Promise<bigint | undefined> {
  const due = roots.filter((root) => root !== NO_ROOT).map((page) => ({ page, isTree: true }));
  const seen = new Set<bigint>();
  const buffer = Buffer.alloc(pageSize);
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    const { page, isTree } = next;
    if (page > lastPage || seen.has(page)) return page;
    seen.add(page);
    const { bytesRead } = await file.read(buffer, 0, pageSize, Number(page) * pageSize);
    if (bytesRead < pageSize || buffer.readBigUInt64LE(0) !== page) return page;
    const flags = buffer.readUInt16LE(PAGE.flagsAt) & (BRANCH | LEAF | OVERFLOW);
    if (!isTree && flags !== OVERFLOW) return page;
    if (!isTree) continue;
    const pointed = flags === BRANCH || flags === LEAF ? pagesOf(buffer, flags === BRANCH) : undefined;
    if (pointed === undefined) return page;
    due.push(...pointed);
  }
  return undefined;
}

/** Lists the pages that a tree's page points to; undefined = a node stands outside. */
function pagesOf(page: Buffer, isBranch: boolean): { page: bigint; isTree: boolean }[] | undefined {
  // LMDB counts positions from the end of the head on.
  const body = page.subarray(PAGE.headBytes);
  const [lower, upper] = [page.readUInt16LE(PAGE.lowerAt), page.readUInt16LE(PAGE.upperAt)];
  if (lower > upper || upper > body.length) return undefined;
  const pointed: { page: bigint; isTree: boolean }[] = [];
  for (let at = 0; at < lower; at += 2) {
    const node = body.readUInt16LE(at);
    if (node < upper || node + NODE.headBytes > body.length) return undefined;
    const valueAt = node + NODE.headBytes + body.readUInt16LE(node + NODE.keyBytesAt);
    const flags = body.readUInt16LE(node + NODE.flagsAt);
    const low = body.readUInt32LE(node);
    const isElsewhere = !isBranch && (flags & IS_ELSEWHERE) !== 0;
    const valueBytes = isBranch ? 0 : isElsewhere ? 8 : low;
    if (valueAt + valueBytes > body.length) return undefined;
    if (isBranch) pointed.push({ page: BigInt(low) | (BigInt(flags) << 32n), isTree: true });
    if (isElsewhere) pointed.push({ page: body.readBigUInt64LE(valueAt), isTree: false });
  }
  return pointed;
}
