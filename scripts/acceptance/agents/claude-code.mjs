// @ts-check
// Claude Code, by Messages. It is told to try nothing again by itself, neither after an error nor, unstreamed, after a broken stream.
// The tool calls that a broken stream had whole it runs, and goes on: a stream that breaks so each time would never end it. It
// has one tool, since the simulated provider calls each that it is offered.
import { arch, platform } from "node:os"
import { agent } from "./checks.mjs"
import { installed } from "./program.mjs"

const base = `@anthropic-ai/claude-code-${platform()}-${arch()}`
const binary = installed(`${base}/claude`)
const maxTurns = 4

export const adapters = [
  agent({
    client: "claude code",
    missing: binary === undefined ? `the package ${base} is not installed` : undefined,
    shell: "Bash",
    retriesStatus: false,
    programOf: ({ apiKey, baseURL }, model, prompt) => ({
      command: binary ?? base,
      args: [
        "--print",
        prompt,
        "--output-format",
        "json",
        "--tools",
        "Bash",
        "--max-turns",
        `${maxTurns}`,
        "--dangerously-skip-permissions"
      ],
      env: () => ({
        ANTHROPIC_BASE_URL: baseURL.replace(/\/v1$/, ""),
        ANTHROPIC_AUTH_TOKEN: apiKey,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1",
        CLAUDE_CODE_MAX_RETRIES: "0",
        // it refuses to run commands unasked as root, unless it is told that nothing can be harmed
        IS_SANDBOX: "1"
      }),
      files: {}
    }),
    said: (output) =>
      lines(output)
        .filter(({ type }) => type === "result")
        .at(-1)?.result ?? ""
  })
]

/** @param {string} output @returns {Array<{ type: string, result?: string }>} */
const lines = (output) => output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []))
