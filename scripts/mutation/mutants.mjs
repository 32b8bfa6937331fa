// @ts-check
import { gateway } from "./mutants/gateway.mjs"
import { http } from "./mutants/http.mjs"
import { ledger } from "./mutants/ledger.mjs"
import { policy } from "./mutants/policy.mjs"
import { provider } from "./mutants/provider.mjs"
import { routing } from "./mutants/routing.mjs"
import { wire } from "./mutants/wire.mjs"

/**
 * One small change that breaks a behaviour.
 * @typedef {object} Mutant
 * @property {string} file Path from the root of the repository.
 * @property {string} find Text that occurs exactly once in the file.
 * @property {string} replace
 * @property {string} breaks What the changed code does wrong.
 * @property {ReadonlyArray<string>} [tests] Test files that should notice, instead of those of the area.
 * @property {string} [equivalent] Why nothing observable changes; such a mutant may survive.
 */

/**
 * Mutants of one part of the code.
 * @typedef {object} Area
 * @property {string} name
 * @property {ReadonlyArray<string>} tests Test files or folders that should notice, unless the mutant names its own.
 * @property {ReadonlyArray<Mutant>} mutants
 */

/** @typedef {Mutant & { readonly area: string, readonly tests: ReadonlyArray<string> }} PlacedMutant */

/** @type {ReadonlyArray<Area>} */
const areas = [gateway, ledger, policy, routing, wire, provider, http]

/** @type {ReadonlyArray<PlacedMutant>} */
export const mutants = areas.flatMap((area) =>
  area.mutants.map((mutant) => ({ ...mutant, area: area.name, tests: mutant.tests ?? area.tests }))
)
