// @ts-check
// opencode, by chat completions. It reads its task from the standard input: its arguments are quoted again inside.
import { arch, platform } from "node:os"
import { agent } from "./checks.mjs"
import { installed } from "./program.mjs"

const base = `opencode-${platform() === "win32" ? "windows" : platform()}-${arch()}`
const binary = installed(`${base}/bin/opencode`)

/** @import { Access } from "../gateway.mjs" */

/** @param {Access} access @param {string} model */
const configOf = ({ apiKey, baseURL }, model) => ({
  model: `gateway/${model}`,
  small_model: `gateway/${model}`,
  share: "disabled",
  autoupdate: false,
  agent: { title: { disable: true } },
  permission: { bash: "allow" },
  provider: {
    gateway: {
      npm: "@ai-sdk/openai-compatible",
      name: "Gateway",
      options: { baseURL, apiKey },
      models: { [model]: { name: model } }
    }
  }
})

export const adapters = [
  agent({
    client: "opencode",
    missing: binary === undefined ? `the package ${base} is not installed` : undefined,
    shell: "bash",
    retriesStatus: true,
    programOf: (access, model, prompt) => ({
      command: binary ?? base,
      args: ["run", "--format", "json", "--model", `gateway/${model}`],
      input: prompt,
      env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
      files: { ".config/opencode/opencode.json": JSON.stringify(configOf(access, model)) }
    }),
    said: (output) =>
      lines(output)
        .filter(({ type }) => type === "text")
        .at(-1)?.part?.text ?? ""
  })
]

/** @param {string} output @returns {Array<{ type: string, part?: { text: string } }>} */
const lines = (output) => output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []))
