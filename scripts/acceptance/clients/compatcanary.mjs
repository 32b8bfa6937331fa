// A scanner for compatible services; it has to be satisfied with all of its seven probes.
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const cli = fileURLToPath(new URL("../node_modules/compatcanary/src/cli.js", import.meta.url))

const scan = ({ apiKey, baseURL }) =>
  new Promise((resolve, reject) => {
    const args = [cli, "scan", "--base-url", baseURL, "--model", "sim/fast", "--profile", "modern", "--format", "json"]
    execFile(
      process.execPath,
      args,
      { env: { PATH: process.env.PATH, OPENAI_API_KEY: apiKey } },
      (error, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout))
        } catch {
          reject(new Error(`no report: ${stdout}${stderr}`, { cause: error }))
        }
      }
    )
  })

export const adapters = [
  {
    client: "compatcanary",
    extra: {
      name: "7 probes",
      run: async (access) => {
        const { results = [], score } = await scan(access)
        const passed = results.filter(({ status }) => status === "pass").length
        if (passed !== 7 || score !== 100) throw new Error(`${passed} of 7, score ${score}: ${JSON.stringify(results)}`)
      }
    }
  }
]
