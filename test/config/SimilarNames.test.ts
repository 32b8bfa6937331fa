import { expect, it } from "vitest"
import { similarNames } from "../../src/config/SimilarNames.ts"

const known = ["HOST", "PORT", "OPENAI_API_KEY", "GEMINI_API_KEY", "METRICS_TOKEN", "GATEWAY_CONFIG"]

it.each([
  ["OPENAI_KEY", "OPENAI_API_KEY"],
  ["OPENAI_TOKEN", "OPENAI_API_KEY"],
  ["openai_api_key", "OPENAI_API_KEY"],
  ["GATEWAY_CONFG", "GATEWAY_CONFIG"],
  ["METRIC_TOKEN", "METRICS_TOKEN"]
])("the variable %s may have meant %s", (name, meant) => {
  expect(similarNames([name], known)).toEqual([{ path: name, message: `is not read; did you mean ${meant}?` }])
  expect(similarNames([name, meant], known)).toEqual([])
})

it.each(["PATH", "HOSTS", "PORTS", "HOSTNAME", "OPENAI_ORG_ID", "npm_config_cache", "KUBERNETES_SERVICE_PORT"])(
  "the variable %s belongs to another program",
  (name) => {
    expect(similarNames([name], known)).toEqual([])
  }
)
