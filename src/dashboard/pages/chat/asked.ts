import type { KeyboardEvent } from "react"
import type { Records } from "../../api/client.ts"

/** A question as it is sent. */
export type Asked = Pick<
  Records["SendMessageRequest"],
  "content" | "model" | "alpha" | "effort" | "image_ids" | "artifacts"
>

export const isRouted = (model: string): boolean => model === "auto" || model.startsWith("auto:")

/** The same question to another model; alpha means something only to `auto`. */
export const withModel = ({ alpha, ...asked }: Asked, model: string): Asked => ({
  ...asked,
  model,
  ...(alpha !== undefined && isRouted(model) ? { alpha } : {})
})

/** By the keyboard, and not by the Enter that ends the choice of an input method. */
export const asksToSend = ({ ctrlKey, key, metaKey, nativeEvent }: KeyboardEvent): boolean =>
  key === "Enter" && (metaKey || ctrlKey) && !nativeEvent.isComposing

/** Not the Escape that ends the choice of an input method. */
export const isEscape = ({ key, nativeEvent }: KeyboardEvent): boolean => key === "Escape" && !nativeEvent.isComposing
