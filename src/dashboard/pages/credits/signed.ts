import type { Records } from "../../api/client.ts"
import { money } from "../../parts/format.ts"

/** Money that leaves the account has a minus. */
export const signed = ({ amount_microusd, kind }: Records["LedgerEntryOut"]): string =>
  money(kind === "credit" ? amount_microusd : -amount_microusd)
