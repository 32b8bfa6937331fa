import type { Cause } from "./Cause.ts"
import { abandoned } from "./causes/Abandoned.ts"
import { cacheLost } from "./causes/CacheLost.ts"
import { cacheUnmarked } from "./causes/CacheUnmarked.ts"
import { clientRetry } from "./causes/ClientRetry.ts"
import { duplicate } from "./causes/Duplicate.ts"
import { effortHigh } from "./causes/EffortHigh.ts"
import { failedAttempts } from "./causes/FailedAttempts.ts"
import { holds } from "./causes/Holds.ts"
import { imageOversize } from "./causes/ImageOversize.ts"
import { jsonPretty } from "./causes/JsonPretty.ts"
import { oversizeOutput } from "./causes/OversizeOutput.ts"
import { prefixVolatile } from "./causes/PrefixVolatile.ts"
import { repeatedInstruction } from "./causes/RepeatedInstruction.ts"
import { repeatRead } from "./causes/RepeatRead.ts"
import { routeSwitch } from "./causes/RouteSwitch.ts"
import { schemaReask } from "./causes/SchemaReask.ts"
import { tierEdge } from "./causes/TierEdge.ts"
import { toolsShuffled } from "./causes/ToolsShuffled.ts"
import { truncatedRetry } from "./causes/TruncatedRetry.ts"
import { ttlGap } from "./causes/TtlGap.ts"
import { unusedTools } from "./causes/UnusedTools.ts"
import { verboseOutput } from "./causes/VerboseOutput.ts"
import { writeNeverRead } from "./causes/WriteNeverRead.ts"

/** Every cause, by its number. */
export const causes: ReadonlyArray<Cause> = [
  prefixVolatile,
  toolsShuffled,
  cacheUnmarked,
  writeNeverRead,
  ttlGap,
  cacheLost,
  routeSwitch,
  duplicate,
  clientRetry,
  truncatedRetry,
  schemaReask,
  repeatRead,
  oversizeOutput,
  jsonPretty,
  repeatedInstruction,
  unusedTools,
  effortHigh,
  verboseOutput,
  abandoned,
  tierEdge,
  imageOversize,
  holds,
  failedAttempts
]
