import * as Gemini from "../../../../src/provider/protocols/gemini/Gemini.ts"
import { understandsForeignServer } from "../ForeignServer.ts"
import { gemini } from "./gemini.ts"

understandsForeignServer({
  name: "Gemini",
  protocol: Gemini.make("json"),
  model: gemini("gemini-2.5-flash"),
  root: "/v1beta",
  usage: { promptTokenCount: 3, candidatesTokenCount: 4 },
  rateLimitType: "RESOURCE_EXHAUSTED"
})
