import { version } from "../../domain/Version.ts"
import type { Command } from "./Command.ts"

const program = "model-routing-gateway"

export const all = (commands: ReadonlyArray<Command>): string =>
  [
    `${program} ${version}: one OpenAI-compatible API for all configured model providers`,
    "",
    `Usage: ${program} [command] [options]`,
    "",
    "Commands (start without any):",
    ...linesOf(commands),
    "",
    `  ${program} help COMMAND says which options a command has; --version prints the version.`,
    "",
    "Settings come from the environment, from .env in the working directory, and from the file of GATEWAY_CONFIG.",
    "Exit codes: 0 done, 1 failed, 78 wrong configuration."
  ].join("\n")

/** Commands with the same first word. */
export const group = (name: string, commands: ReadonlyArray<Command>): string =>
  [
    `Usage: ${program} ${name} COMMAND [options]`,
    "",
    "Commands:",
    ...linesOf(commands),
    "",
    `  ${program} help ${name} COMMAND says which options one has.`
  ].join("\n")

export const one = (command: Command): string => {
  const options = Object.entries(command.options).map(
    ([name, { about, value }]) => [`--${name}${value === null ? "" : ` ${value}`}`, about] as const
  )
  const width = Math.max(0, ...options.map(([name]) => name.length))
  return [
    `Usage: ${program} ${usageOf(command)}${options.length === 0 ? "" : " [options]"}`,
    "",
    command.about,
    ...(options.length === 0 ? [] : ["", ...options.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)])
  ].join("\n")
}

const linesOf = (commands: ReadonlyArray<Command>): ReadonlyArray<string> => {
  const width = Math.max(...commands.map((command) => usageOf(command).length))
  return commands.map((command) => `  ${usageOf(command).padEnd(width)}  ${command.about}`)
}

const usageOf = ({ name, positionals }: Command): string => [name, ...positionals].join(" ")
