import * as Gemini from "../../../../src/provider/protocols/gemini/Gemini.ts"
import * as Auth from "../../../../src/provider/transport/Auth.ts"
import { start } from "../../../../src/testing/simulators/gemini/GeminiSimulator.ts"
import { protocolContract } from "../ProtocolContract.ts"
import { gemini } from "./gemini.ts"

for (const schemas of ["json", "openapi"] as const) {
  protocolContract({
    name: `gemini with ${schemas} schemas`,
    start,
    protocol: Gemini.make(schemas),
    auth: Auth.header("x-goog-api-key"),
    model: gemini("gemini-2.5-flash-lite"),
    reasoning: gemini(schemas === "json" ? "gemini-3-flash-preview" : "gemini-2.5-flash")
  })
}
