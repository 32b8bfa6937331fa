import { isObject, type Json } from "../../../provider/protocols/shared/Json.ts"
import type { SimulatedRequest } from "./Simulator.ts"

/**
 * The body of a request; `undefined` unless it is a JSON object. Long integers are rounded: the simulators count and repeat what they
 * got by `JSON.stringify`, which throws at a `bigint`.
 */
export const bodyOf = ({ text }: Pick<SimulatedRequest, "text">): Json | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
