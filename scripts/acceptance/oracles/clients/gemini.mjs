import { GoogleGenAI } from "@google/genai"
import {
  clockSchema,
  forecastSchema,
  lowBudget,
  maxOutputTokens,
  oddQuestion,
  pdf,
  pixel,
  question,
  results,
  weatherSchema
} from "../matrix.mjs"

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
/** The documented way to say that a call was another model's. */
const standIn = "skip_thought_signature_validator"
const defaultModel = "gemini-2.5-flash-lite"

export const gemini = {
  client: "@google/genai",
  vendorId: "google",
  start: ({ GeminiSimulator }) => GeminiSimulator.start(),
  headers: ["content-type", "x-goog-api-key"],
  params: {
    text: { model: defaultModel, contents: "Say exactly: héllo 🌍" },
    system: {
      model: defaultModel,
      contents: [
        user({ text: "Hello." }),
        { role: "model", parts: [{ text: "Hello to you." }] },
        user({ text: "Say exactly: again" })
      ],
      config: { systemInstruction: "Be brief." }
    },
    tools: { model: defaultModel, contents: question, config: { tools } },
    "auto tool": { model: defaultModel, contents: "Say exactly: none", config: choice({ mode: "AUTO" }) },
    "forced tool": {
      model: defaultModel,
      contents: "Hello.",
      config: choice({ mode: "ANY", allowedFunctionNames: ["read_clock"] })
    },
    "any tool": { model: defaultModel, contents: "Hello.", config: choice({ mode: "ANY" }) },
    "no tool": { model: defaultModel, contents: "What is the weather?", config: choice({ mode: "NONE" }) },
    "tool results": {
      model: defaultModel,
      contents: [
        user({ text: question }),
        {
          role: "model",
          parts: [
            { text: "I will look." },
            {
              functionCall: { id: "call_a", name: "get_weather", args: { city: "Rome", unit: "C" } },
              thoughtSignature: standIn
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
      model: defaultModel,
      contents: [user({ text: "What is this?" }, { inlineData: { mimeType: "image/png", data: pixel } })]
    },
    file: {
      model: defaultModel,
      contents: [user({ text: "What is this?" }, { inlineData: { mimeType: "application/pdf", data: pdf } })]
    },
    "JSON schema": {
      model: defaultModel,
      contents: "The forecast for 3 days in Rome",
      config: { responseMimeType: "application/json", responseJsonSchema: forecastSchema }
    },
    stop: { model: defaultModel, contents: "Count to 20", config: { stopSequences: ["5"] } },
    sampling: { model: defaultModel, contents: "Say exactly: warm", config: { temperature: 0.5 } },
    reasoning: {
      model: "gemini-3-flash-preview",
      contents: "Say exactly: so",
      config: { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } }
    },
    "reasoning by budget": {
      model: "gemini-2.5-flash",
      contents: "Say exactly: so",
      config: { thinkingConfig: { thinkingBudget: lowBudget, includeThoughts: true } }
    }
  },
  loop: {
    model: "gemini-3-flash-preview",
    contents: [user({ text: oddQuestion })],
    config: { tools, thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } }
  },
  answered: (params, content) => ({
    ...params,
    contents: [
      ...params.contents,
      content,
      user(
        ...content.parts
          .flatMap(({ functionCall }) => functionCall ?? [])
          .map(({ id, name }, at) => ({ functionResponse: { id, name, response: { output: results[at] } } }))
      )
    ]
  }),
  call: async ({ origin }, params, stream) => {
    const { models } = new GoogleGenAI({ apiKey: "a-secret", httpOptions: { baseUrl: origin } })
    const body = { ...params, config: { ...params.config, maxOutputTokens } }
    const chunks = []
    if (stream) for await (const chunk of await models.generateContentStream(body)) chunks.push(chunk)
    else chunks.push(await models.generateContent(body))
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
    const said = (isReasoning) =>
      parts.flatMap((part) => ((part.thought === true) === isReasoning ? [part.text ?? ""] : [])).join("")
    const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = chunks.at(-1).usageMetadata
    return {
      raw: chunks[0].candidates?.[0]?.content,
      text: said(false),
      reasoning: said(true),
      calls: parts.flatMap(({ functionCall }) =>
        functionCall === undefined ? [] : [[functionCall.id, functionCall.name, functionCall.args]]
      ),
      output: candidatesTokenCount + thoughtsTokenCount
    }
  },
  /**
   * Instructions have no role that would be read. The simulator derives ids and signatures from the bytes of the request before,
   * in which the order of keys differs; that they are the right ones it checks itself.
   */
  normalised: ({ contents, systemInstruction, ...body }) => ({
    ...body,
    contents: withoutIds(contents),
    ...(systemInstruction !== undefined && { systemInstruction: { parts: systemInstruction.parts } })
  })
}

const withoutIds = (contents) => {
  const ids = new Map()
  const ordinal = (id) => ids.get(id) ?? ids.set(id, `id ${ids.size}`).get(id)
  return JSON.parse(JSON.stringify(contents), (key, value) =>
    key === "id" ? ordinal(value) : key === "thoughtSignature" && value !== standIn ? "signed" : value
  )
}
