/** Reads `grpc-timeout`, such as `20m` or `1S`, in milliseconds; null = none, or no such text. */
export function timeoutMsOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text === last.text) return last.ms;
  const [, amount, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const ms = amount === undefined ? null : Number(amount) * (UNIT_MS[unit] as number);
  last = { text, ms };
  return ms;
}

/** A gateway's calls have one timeout. */
let last: { readonly text: string; readonly ms: number | null } = { text: '', ms: null };
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };
