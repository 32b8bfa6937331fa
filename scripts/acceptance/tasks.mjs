// @ts-check
// What every client is asked to do; the simulated models know these wishes.
import { z } from "zod"

export const sentence = "one two three four five six seven"
export const speak = `Say: ${sentence}`
export const endless = "Please give me 5000 words about routing."
export const askWeather = "What is the weather in Rome?"
export const askCity = "Tell me about the city of Rome with its 2800000 inhabitants."

export const weatherSchema = z.object({ city: z.string() })
export const citySchema = z.object({ city: z.string(), inhabitants: z.number() })

export const weatherSchemaJson = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false
}
export const citySchemaJson = {
  type: "object",
  properties: { city: { type: "string" }, inhabitants: { type: "number" } },
  required: ["city", "inhabitants"],
  additionalProperties: false
}

/** The tool that every client offers; the answer to the loop has to contain what it says. @param {{ city: string }} input */
export const weather = ({ city }) => `sunny with 21 degrees in ${city}`
