// @ts-check
// Codex, by Responses. Its commands run without its sandbox, which not every machine can give it, in a folder of their own.
import { arch, platform } from "node:os"
import { agent } from "./checks.mjs"
import { installed } from "./program.mjs"

const base = `@openai/codex-${platform()}-${arch()}`

/** @import { Access } from "../gateway.mjs" */

/** @param {Access} access @param {string} model */
const configOf = ({ baseURL }, model) => `
model = "${model}"
model_provider = "gateway"
check_for_update_on_startup = false

[model_providers.gateway]
name = "Gateway"
base_url = "${baseURL}"
env_key = "GATEWAY_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`

export const adapters = [
  agent({
    client: "codex exec",
    missing: installed(base) === undefined ? `the package ${base} is not installed` : undefined,
    shell: "exec_command",
    retriesStatus: false,
    programOf: (access, model, prompt) => ({
      command: process.execPath,
      args: [
        installed("@openai/codex/bin/codex.js") ?? "",
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        prompt
      ],
      env: (home) => ({ CODEX_HOME: home, GATEWAY_API_KEY: access.apiKey }),
      files: { "config.toml": configOf(access, model) }
    }),
    said: (output) =>
      lines(output)
        .filter(({ item, type }) => type === "item.completed" && item?.type === "agent_message")
        .at(-1)?.item?.text ?? ""
  })
]

/** @param {string} output @returns {Array<{ type: string, item?: { type: string, text?: string } }>} */
const lines = (output) => output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []))
