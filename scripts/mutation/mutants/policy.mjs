// @ts-check

const effective = ["test/policy/EffectivePolicy.test.ts"]
const rates = ["test/policy/RateLimits.test.ts"]

/** @type {import("../mutants.mjs").Area} */
export const policy = {
  name: "policy",
  tests: effective,
  mutants: [
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "project.enableFallback && (configuration?.enableFallback ?? true)",
      replace: "(configuration?.enableFallback ?? project.enableFallback)",
      breaks: "a routing configuration brings fallback back"
    },
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "routing.alpha ?? configuration?.alpha",
      replace: "(routing.alpha || configuration?.alpha)",
      breaks: "an alpha of 0 is taken for none"
    },
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "rates.input > layer.maxInputPriceMicroUsdPerMillion",
      replace: "rates.input >= layer.maxInputPriceMicroUsdPerMillion",
      breaks: "a price equal to its cap is excluded"
    },
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "if (model.prices === null) return layer.overPriceCap",
      replace: "if (model.prices === null) continue",
      breaks: "an unknown price passes a cap"
    },
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "(deny === null || !denies(deny, model))",
      replace: "(deny === null || allow !== null || !denies(deny, model))",
      breaks: "an allowed model cannot be denied"
    },
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "matches(deny, model) || (deny.prefixes.size > 0 && hasPrefix(deny.prefixes, model.alias, 0))",
      replace: "matches(deny, model)",
      breaks: "a maker that is denied is used where another provider sells its models"
    },
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "known !== undefined && known.restricted === restricted",
      replace: "known !== undefined",
      breaks: "a policy that is also a configuration gives the wrong reason"
    },
    {
      file: "src/policy/EffectivePolicy.ts",
      find: "add(layers, compiledRequest(routing))",
      replace: "",
      breaks: "the request's own restrictions are ignored"
    },
    {
      file: "src/policy/Bucket.ts",
      find: "Math.min(units * minuteMillis, capacity)",
      replace: "units * minuteMillis",
      breaks: "a request above a minute's allowance waits forever",
      tests: rates
    },
    {
      file: "src/policy/Bucket.ts",
      find: "if (bucket.perMinute <= 0) return minuteMillis",
      replace: "",
      breaks: "a limit of zero is none",
      tests: rates
    },
    {
      file: "src/policy/Bucket.ts",
      find: "  bucket.atMillis = nowMillis\n",
      replace: "",
      breaks: "an allowance grows back twice",
      tests: rates
    },
    {
      file: "src/policy/RateLimits.ts",
      find: "maxRunning !== null && running >= maxRunning",
      replace: "maxRunning !== null && running > maxRunning",
      breaks: "one request more than allowed runs at the same time",
      tests: rates
    },
    {
      file: "src/policy/RateLimits.ts",
      find: "    if (released) return\n",
      replace: "",
      breaks: "a place that is released twice is given back twice",
      tests: rates
    },
    {
      file: "src/policy/RateLimits.ts",
      find: "next.waitMillis > longest.waitMillis",
      replace: "next.waitMillis < longest.waitMillis",
      breaks: "the shortest of several waits is named",
      tests: rates
    },
    {
      file: "src/policy/RateLimits.ts",
      find: "entry.running === 0 && Bucket",
      replace: "Bucket",
      breaks: "requests that run for a minute are forgotten",
      tests: rates
    },
    {
      file: "src/sql/migrations/0047_announced_rows.ts",
      find: "after insert or update or delete on api_key",
      replace: "after insert or delete on api_key",
      breaks: "a key that a statement in psql ends is taken for up to a minute",
      tests: ["test/sql/AnnouncedRows.test.ts"]
    }
  ]
}
