/**
 * Why the database serves nothing, as `/readyz` says it. `delayed`: another transaction is in the way, or it is slow. `starting`: it
 * starts, stops or recovers. `failed`: something else, which the log has, as it has what to do about each.
 */
export const databaseOutages = [
  "unreachable",
  "starting",
  "access_denied",
  "too_many_connections",
  "disk_full",
  "read_only",
  "delayed",
  "failed"
] as const
export type DatabaseOutage = (typeof databaseOutages)[number]
