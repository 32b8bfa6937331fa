import * as Auth from "../../src/provider/Auth.ts"
import * as Gemini from "../../src/provider/protocols/Gemini.ts"
import { start } from "../../src/testing/simulators/GeminiSimulator.ts"
import { gemini } from "./gemini.ts"
import { protocolContract } from "./ProtocolContract.ts"

for (const schemas of ["json", "openapi"] as const) {
  protocolContract({
    name: `gemini with ${schemas} schemas`,
    start,
    protocol: Gemini.make(schemas),
    auth: Auth.header("x-goog-api-key"),
    model: gemini("gemini-2.5-flash-lite"),
    thinking: gemini(schemas === "json" ? "gemini-3-flash-preview" : "gemini-2.5-flash")
  })
}
