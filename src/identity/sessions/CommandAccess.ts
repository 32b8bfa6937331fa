import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { MasterKey } from "../../credentials/MasterKey.ts"
import { type StoreUnavailable, Unauthenticated } from "../../domain/GatewayError.ts"
import { Timers } from "../../domain/Timers.ts"
import { Database } from "../../sql/Database.ts"
import { type User, UserStore } from "../users/UserStore.ts"
import * as SignInProof from "./SignInProof.ts"

/** What the key of a command's proof is derived for: it signs nobody in. */
export const commandPurpose = "command proof"

export interface CommandAccessShape {
  /** The operator of the first start, for a proof that counts once. */
  readonly authenticate: (proof: string) => Effect.Effect<User, Unauthenticated | StoreUnavailable>
}

/**
 * Lets the command use the account API of a service that has the embedded database open. On PostgreSQL the command works on the
 * database itself, and no proof is accepted.
 */
export class CommandAccess extends Context.Tag("gateway/identity/CommandAccess")<CommandAccess, CommandAccessShape>() {
  static readonly layer: Layer.Layer<CommandAccess, never, Database | MasterKey | Timers | UserStore> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const { kind } = yield* Database
  const masterKey = yield* MasterKey
  const users = yield* UserStore
  const timers = yield* Timers
  /** Proofs that were used, each until it is no longer valid, by the time of their use. */
  const used = new Map<string, number>()

  const isFirstUse = (proof: string): boolean => {
    const now = timers.now()
    for (const [known, atMillis] of used) {
      if (now - atMillis <= SignInProof.maxAgeMillis * 2) break
      used.delete(known)
    }
    if (used.has(proof)) return false
    used.set(proof, now)
    return true
  }

  return CommandAccess.of({
    authenticate: (proof) =>
      Effect.gen(function* () {
        if (kind !== "embedded") return yield* new Unauthenticated()
        const keys = yield* Effect.catchAll(masterKey.accepted(commandPurpose), () => new Unauthenticated())
        if (!SignInProof.isValid(proof, keys, timers.now()) || !isFirstUse(proof)) return yield* new Unauthenticated()
        const operator = yield* users.findLocalOperator
        return operator ?? (yield* new Unauthenticated())
      })
  })
})
