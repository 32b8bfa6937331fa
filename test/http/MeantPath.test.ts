import { describe, expect, it } from "vitest"
import { meantPath, unknownPath } from "../../src/http/MeantPath.ts"

describe("an unknown path most likely means", () => {
  it.each([
    ["//v1/chat/completions", "/v1/chat/completions"],
    ["/v1//chat/completions", "/v1/chat/completions"],
    ["/v1/models/", "/v1/models"],
    ["/chat/completions", "/v1/chat/completions"],
    ["/responses", "/v1/responses"],
    ["/v1/v1/chat/completions", "/v1/chat/completions"],
    ["/api/v1/chat/completions", "/v1/chat/completions"],
    ["/V1/Models", "/v1/models"],
    ["/v1/chat/completion", "/v1/chat/completions"],
    ["/healthz", undefined],
    ["/readyz/", "/readyz"],
    ["/api/me/projects/", "/api/me/projects"],
    ["/api/projects", "/api/me/projects"],
    ["/api/balance", "/api/me/balance"],
    ["/api/projects/p1/requets", "/api/projects/p1/requests"],
    ["/api/projects//savings", undefined],
    ["/api/me/nothing-like-it", undefined],
    ["//api/me/projects", "/api/me/projects"],
    ["/API/me/Projects", "/api/me/projects"],
    ["/v1/completions", "/v1/chat/completions"],
    ["/completions", "/v1/chat/completions"],
    ["/v1/complete", "/v1/messages"],
    ["/v1/embeddings", undefined],
    ["/", undefined]
  ])("%s: %s", (path, expected) => {
    expect(meantPath(path)).toBe(expected)
  })
})

describe("what is said of an unknown path", () => {
  it.each([
    [
      "/v1/embeddings",
      "Unknown path '/v1/embeddings'. Models are called at '/v1/chat/completions', '/v1/responses', '/v1/messages'."
    ],
    ["/v1", "Unknown path '/v1'. Models are called at '/v1/chat/completions', '/v1/responses', '/v1/messages'."],
    ["/v1/completions", "Unknown path '/v1/completions'. Did you mean '/v1/chat/completions'?"],
    ["/healthz", "Unknown path '/healthz'."],
    ["/api/me/nothing-like-it", "Unknown path '/api/me/nothing-like-it'."]
  ])("%s: %s", (path, expected) => {
    expect(unknownPath(path).message).toBe(expected)
  })
})
