import { GoogleGenAI } from "@google/genai"
import { clockSchema, forecastSchema, lowBudget, maxOutputTokens, pixel, question, weatherSchema } from "./matrix.mjs"

const tools = [
  {
    functionDeclarations: [
      { name: "get_weather", description: "Tells the weather.", parametersJsonSchema: weatherSchema },
      { name: "read_clock", description: "Tells the time.", parametersJsonSchema: clockSchema }
    ]
  }
]
const choice = (functionCallingConfig) => ({ tools, toolConfig: { functionCallingConfig } })
const user = (...parts) => ({ role: "user", parts })
const usual = "gemini-2.5-flash-lite"

export const gemini = {
  client: "@google/genai",
  vendorId: "google",
  start: ({ GeminiSimulator }) => GeminiSimulator.start(),
  headers: ["content-type", "x-goog-api-key"],
  params: {
    text: { model: usual, contents: "Say exactly: héllo 🌍" },
    system: {
      model: usual,
      contents: [
        user({ text: "Hello." }),
        { role: "model", parts: [{ text: "Hello to you." }] },
        user({ text: "Say exactly: again" })
      ],
      config: { systemInstruction: "Be brief." }
    },
    tools: { model: usual, contents: question, config: { tools } },
    "auto tool": { model: usual, contents: "Say exactly: none", config: choice({ mode: "AUTO" }) },
    "forced tool": {
      model: usual,
      contents: "Hello.",
      config: choice({ mode: "ANY", allowedFunctionNames: ["read_clock"] })
    },
    "any tool": { model: usual, contents: "Hello.", config: choice({ mode: "ANY" }) },
    "tool results": {
      model: usual,
      contents: [
        user({ text: question }),
        {
          role: "model",
          parts: [
            { text: "I will look." },
            {
              functionCall: { id: "call_a", name: "get_weather", args: { city: "Rome", unit: "C" } },
              thoughtSignature: "skip_thought_signature_validator"
            },
            { functionCall: { id: "call_b", name: "read_clock", args: {} } }
          ]
        },
        user(
          { functionResponse: { id: "call_a", name: "get_weather", response: { output: "sunny" } } },
          { functionResponse: { id: "call_b", name: "read_clock", response: { output: "noon" } } }
        )
      ],
      config: { tools }
    },
    image: {
      model: usual,
      contents: [user({ text: "What is this?" }, { inlineData: { mimeType: "image/png", data: pixel } })]
    },
    "JSON schema": {
      model: usual,
      contents: "The forecast for 3 days in Rome",
      config: { responseMimeType: "application/json", responseJsonSchema: forecastSchema }
    },
    stop: { model: usual, contents: "Count to 20", config: { stopSequences: ["5"] } },
    sampling: { model: usual, contents: "Say exactly: warm", config: { temperature: 0.5 } },
    thinking: {
      model: "gemini-3-flash-preview",
      contents: "Say exactly: so",
      config: { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } }
    },
    "thinking by budget": {
      model: "gemini-2.5-flash",
      contents: "Say exactly: so",
      config: { thinkingConfig: { thinkingBudget: lowBudget, includeThoughts: true } }
    }
  },
  call: async ({ origin }, params, stream) => {
    const { models } = new GoogleGenAI({ apiKey: "a-secret", httpOptions: { baseUrl: origin } })
    const body = { ...params, config: { ...params.config, maxOutputTokens } }
    const chunks = []
    if (stream) for await (const chunk of await models.generateContentStream(body)) chunks.push(chunk)
    else chunks.push(await models.generateContent(body))
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
    const said = (isThought) =>
      parts.flatMap((part) => ((part.thought === true) === isThought ? [part.text ?? ""] : [])).join("")
    const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = chunks.at(-1).usageMetadata
    return {
      text: said(false),
      thoughts: said(true),
      calls: parts.flatMap(({ functionCall }) =>
        functionCall === undefined ? [] : [[functionCall.id, functionCall.name, functionCall.args]]
      ),
      output: candidatesTokenCount + thoughtsTokenCount
    }
  },
  /** Instructions have no role that would be read. */
  normalised: ({ systemInstruction, ...body }) =>
    systemInstruction === undefined ? body : { ...body, systemInstruction: { parts: systemInstruction.parts } }
}
