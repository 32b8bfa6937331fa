import type { CacheControl, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderCall } from "../../Provider.ts"

/** A mark in Anthropic's form, without its time, which has a price of its own; `undefined` where the vendor knows no such marks. */
export const cacheMark = (control: CacheControl | undefined, { model }: ProviderCall): JsonObject | undefined =>
  control === undefined || model.support.cache_control !== "native" ? undefined : { type: control.type }
