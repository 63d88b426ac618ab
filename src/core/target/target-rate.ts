/**
 * The cluster rate in force now, per dimension (DESIGN §5; FoundationDB's global tag throttling):
 *
 *     target = max(reserved, min(desired, limiting))
 *
 * desired  = the quota (in cost mode quota ÷ average cost; a later issue)
 * limiting = what the backends can bear; Infinity while no backend reports its health
 * reserved = the part that limiting never takes away
 *
 * Worked: desired 100, limiting 40, reserved 10 → 40; limiting 5 → 10; no backend → 100. Infinity = unlimited, 0 =
 * blocked.
 */
export function targetRate(desired: number, limiting: number, reserved: number): number {
  return Math.max(reserved, Math.min(desired, limiting));
}
