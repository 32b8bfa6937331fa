import * as Effect from "effect/Effect"
import { inDollars } from "../../domain/Money.ts"
import type { BalanceOut } from "../../wire/account/Billing.ts"
import { microUsdOf, textOf } from "./Arguments.ts"
import type { Command } from "./Command.ts"
import { Operations } from "./Operations.ts"
import { jsonOption, print } from "./Output.ts"
import { accountOf, accountOption } from "./Targets.ts"
import { withOperations } from "./WithOperations.ts"

export const balance: Command = {
  name: "balance",
  about: "what an account has, has spent and holds",
  positionals: [],
  options: { ...accountOption, ...jsonOption },
  run: ({ given, settings }) =>
    Effect.gen(function* () {
      const operations = yield* Operations
      const account = yield* accountOf(given)
      const money = yield* operations.balance(account)
      yield* print(given, { account_id: account, ...money }, lines(money))
    }).pipe(withOperations(settings))
}

export const creditAdd: Command = {
  name: "credit add",
  about: "give an account credit",
  positionals: [],
  options: {
    usd: { about: "how much; required", value: "DOLLARS" },
    note: { about: "reason for the credit, recorded in the ledger", value: "TEXT" },
    ...accountOption,
    ...jsonOption
  },
  run: ({ given, settings }) =>
    Effect.gen(function* () {
      const amount = yield* microUsdOf("usd", given.values.get("usd") ?? "")
      const note = yield* textOf("note", given.values.get("note") ?? "command line")
      const operations = yield* Operations
      const account = yield* accountOf(given)
      const money = yield* operations.credit(account, amount, note)
      yield* print(given, { account_id: account, ...money }, `${inDollars(amount)} of credit added\n${lines(money)}`)
    }).pipe(withOperations(settings))
}

const lines = (money: typeof BalanceOut.Type): string =>
  [
    `available ${inDollars(money.available_microusd)}`,
    `held      ${inDollars(money.held_microusd)}`,
    `spent     ${inDollars(money.spent_microusd)}`,
    `credited  ${inDollars(money.credited_microusd)}`
  ].join("\n")
