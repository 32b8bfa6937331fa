import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { protocolIds } from "../../../src/domain/Support.ts"
import { faults } from "../../../src/testing/simulators/core/Simulator.ts"
import { triedFaults } from "./ProtocolContract.ts"

const folder = new URL(".", import.meta.url)

it("the contract tries every fault that a simulator has", () => {
  expect([...triedFaults].sort()).toEqual([...faults].sort())
})

it("every protocol that is spoken over HTTP is held to the whole contract", () => {
  const held = new Set<string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("Contract.test.ts")
  )) {
    const source = readFileSync(new URL(file, folder), "utf8")
    expect([file, /\.(?:skip|only|todo|skipIf|runIf)\b/.test(source)]).toEqual([file, false])
    if (!/^\s*protocolContract\(\{/m.test(source)) continue
    for (const [, name] of source.matchAll(/name: ["`]([a-z-]+)/g)) held.add(String(name))
  }
  expect([...held].sort()).toEqual(protocolIds.filter((id) => id !== "simulated").sort())
})
