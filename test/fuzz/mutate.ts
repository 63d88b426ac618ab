const NASTY = [0, -1, -2, -5, 1, 255, 65_536, 30_000_000, 0x7fffffff, -0x80000000];

/** Breaks bytes as wires, bugs and attackers do: one to three changes. */
export function mutate(bytes: Buffer, random: () => number): Buffer {
  let broken = Buffer.from(bytes);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let left = 1 + below(3); left > 0; left--) {
    const at = below(broken.length);
    const kind = below(6);
    if (broken.length === 0) return broken;
    if (kind === 0) broken[at] = below(256);
    else if (kind === 1 && broken.length >= 4)
      broken.writeInt32BE(NASTY[below(NASTY.length)], below(broken.length - 3));
    else if (kind === 2) broken = broken.subarray(0, at);
    else if (kind === 3) broken = Buffer.concat([broken.subarray(0, at), broken]);
    else if (kind === 4) broken = Buffer.concat([broken, Buffer.from(Array.from({ length: 20 }, () => below(256)))]);
    else broken.fill(below(256), at, Math.min(broken.length, at + 1 + below(16)));
  }
  return broken;
}
