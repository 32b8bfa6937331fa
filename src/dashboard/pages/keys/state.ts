import type { Records } from "../../api/client.ts"

/** What a key can be used for now, in one word. */
export const stateOf = ({ expires_at, is_active, revoked_at }: Records["ApiKeyOut"], now = Date.now()): string => {
  if (revoked_at !== null) return "revoked"
  if (expires_at !== null && Date.parse(expires_at) <= now) return "expired"
  return is_active ? "active" : "inactive"
}
