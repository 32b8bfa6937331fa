import type { ToolCallDelta } from "../domain/ChatEvent.ts"
import { isObject } from "../wire/validation/Guard.ts"
import { parse } from "../wire/validation/JsonBounds.ts"

/** The arguments of a response's function calls, piece by piece. */
export class ToolArguments {
  private readonly pieces = new Map<number, Array<string>>()

  add({ arguments: text, index, kind }: ToolCallDelta): void {
    if (kind !== "function") return
    const known = this.pieces.get(index)
    if (known === undefined) this.pieces.set(index, [text])
    else known.push(text)
  }

  /** Blank arguments are an empty object: models call functions without parameters in this way. */
  areObjects(): boolean {
    for (const pieces of this.pieces.values()) {
      const text = pieces.join("")
      if (/\S/.test(text) && !isObject(parse(text))) return false
    }
    return true
  }
}
