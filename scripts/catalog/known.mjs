// @ts-check
/**
 * What the facts file does not carry but vendors document, by upstream model. Kept small: a line here needs a source, and
 * whatever is not here stays unknown.
 */

/**
 * Chat completions refuse function tools together with an effort (openai/openai-openapi issue 541, pydantic-ai 7480,
 * crush 2913).
 */
export const toolsForbidEffort = new Set(["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.5"])

/** OpenAI serves them by its Responses API only, and answers 404 at chat completions, where requests are sent (its model pages). */
export const responsesOnly = new Set(["gpt-5.3-codex"])

/**
 * The effort a model applies when none is sent. OpenAI: `medium` before gpt-5.1, `none` from gpt-5.1 on, `medium` again with
 * gpt-5.5. Anthropic: `high` from generation 5, where reasoning is on by default; earlier generations reason on request only.
 *
 * @type {ReadonlyMap<string, string>}
 */
export const defaultEffort = new Map([
  ["o3", "medium"],
  ["o4-mini", "medium"],
  ["gpt-5-nano", "medium"],
  ["gpt-5-mini", "medium"],
  ["gpt-5", "medium"],
  ["gpt-oss-20b", "medium"],
  ["gpt-oss-120b", "medium"],
  ["gpt-5.1", "none"],
  ["gpt-5.2", "none"],
  ["gpt-5.4", "none"],
  ["gpt-5.4-mini", "none"],
  ["gpt-5.4-nano", "none"],
  ["gpt-5.5", "medium"],
  ["claude-sonnet-5", "high"],
  ["claude-fable-5", "high"]
])

/** Reason only when asked to, although they can. */
export const reasonsOnRequest = new Set([
  "claude-haiku-4-5",
  "claude-sonnet-4-5",
  "claude-sonnet-4-6",
  "claude-opus-4-5",
  "claude-opus-4-6",
  "claude-opus-4-7",
  "claude-opus-4-8",
  "gemini-2.5-flash-lite",
  "qwen-flash"
])

/**
 * Take an effort by name but reason only within a budget of tokens (platform.claude.com: adaptive reasoning begins with 4.6), so
 * that the budget is what carries an effort.
 */
export const thinksByBudget = new Set(["claude-opus-4-5"])

/** Follow a JSON schema at Anthropic (platform.claude.com, structured outputs: generation 4.5 and later). */
export const followsSchemas = new Set([
  "claude-haiku-4-5",
  "claude-sonnet-4-5",
  "claude-sonnet-4-6",
  "claude-sonnet-5",
  "claude-opus-4-5",
  "claude-opus-4-6",
  "claude-opus-4-7",
  "claude-opus-4-8",
  "claude-fable-5"
])

/**
 * Rates of longer prompts that the facts file does not have, by id: Alibaba's of the international endpoint, in micro-USD per
 * million tokens (release notes of LiteLLM 1.77.2, whose rates of short prompts are the facts file's).
 *
 * @type {ReadonlyMap<string, ReadonlyArray<import("./derive.mjs").FactTier>>}
 */
export const tiersOf = new Map([
  ["alibaba/qwen-flash", [{ tier: { size: 256_000 }, input: 250_000, output: 2_000_000 }]],
  [
    "alibaba/qwen3-coder-plus",
    [
      { tier: { size: 32_000 }, input: 1_800_000, output: 9_000_000 },
      { tier: { size: 128_000 }, input: 3_000_000, output: 15_000_000 },
      { tier: { size: 256_000 }, input: 6_000_000, output: 60_000_000 }
    ]
  ],
  [
    "alibaba/qwen3-max",
    [
      { tier: { size: 32_000 }, input: 2_400_000, output: 12_000_000 },
      { tier: { size: 128_000 }, input: 3_000_000, output: 15_000_000 }
    ]
  ]
])
