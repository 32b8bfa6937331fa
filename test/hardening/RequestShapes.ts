/** Requests that have been hard on some step, each as it grows with `size`. */
export interface RequestShape {
  readonly name: string
  readonly endpoint: "chat" | "responses" | "messages"
  readonly size: number
  readonly body: (size: number) => object
}

type Json = Readonly<Record<string, unknown>>

const times = <A>(count: number, make: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => make(at))

const user = (content: unknown): Json => ({ role: "user", content })
const calls = (ids: ReadonlyArray<string>, text = "{}"): Json => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: text } }))
})
const result = (id: string, content: unknown = "r"): Json => ({ role: "tool", tool_call_id: id, content })
const tool = (name: string, parameters: Json = {}): Json => ({
  type: "function",
  function: { name, strict: true, parameters }
})

const chat = (name: string, size: number, messages: (size: number) => ReadonlyArray<Json>): RequestShape => ({
  name,
  size,
  endpoint: "chat",
  body: (n) => ({ model: "auto", messages: messages(n) })
})

const schema = (name: string, size: number, make: (size: number) => Json): RequestShape => ({
  name,
  size,
  endpoint: "chat",
  body: (n) => ({
    model: "auto",
    messages: [user("f")],
    tools: [tool("f", { type: "object", properties: { a: make(n) } })],
    response_format: { type: "json_schema", json_schema: { name: "s", schema: make(n) } }
  })
})

const extra = (name: string, size: number, fields: (size: number) => Json): RequestShape => ({
  name,
  size,
  endpoint: "chat",
  body: (n) => ({ model: "auto", messages: [user("f")], ...fields(n) })
})

const responses = (name: string, size: number, fields: (size: number) => Json): RequestShape => ({
  name,
  size,
  endpoint: "responses",
  body: (n) => ({ model: "auto", input: "f", ...fields(n) })
})

const nested = (depth: number, wrap: (inner: Json) => Json): Json =>
  depth === 0 ? { type: "string" } : wrap(nested(depth - 1, wrap))

const image = (url: string): Json => user([{ type: "image_url", image_url: { url } }])
const file = (filename: string): Json => ({
  type: "file",
  file: { filename, file_data: "data:text/plain;base64,QUFB" }
})

const schemas: ReadonlyArray<RequestShape> = [
  schema("nested unions", 20, (n) => nested(n, (items) => ({ type: ["array", "array", "object"], items }))),
  schema("nested unions of every type", 20, (n) =>
    nested(n, (a) => ({ type: ["object", "array", "string", "null"], properties: { a }, items: { enum: ["x"] } }))
  ),
  schema("a list of many types", 4_000, (n) => ({ type: times(n, (at) => (at % 2 === 0 ? "string" : "array")) })),
  schema("many types and a large enumeration", 2_000, (n) => ({
    type: times(n, () => "integer"),
    enum: times(n, (at) => at)
  })),
  schema("wide unions", 1_000, (n) => ({ anyOf: times(n, (at) => ({ type: "string", const: `c${at}` })) })),
  schema("references to one definition", 400, (n) => ({
    $defs: { d: { type: "string", enum: ["a", "b"] } },
    type: "object",
    properties: Object.fromEntries(times(n, (at) => [`p${at}`, { $ref: "#/properties/a/$defs/d" }]))
  })),
  schema("parts of an allOf", 200, (n) => ({
    allOf: times(n, (at) => ({ properties: { [`p${at}`]: { type: "string" } }, required: [`p${at}`] }))
  })),
  schema("deep properties", 20, (n) => nested(n, (a) => ({ type: "object", properties: { a, b: {} } }))),
  schema("many required names", 4_000, (n) => ({ type: "object", required: times(n, (at) => `r${at}`) }))
]

const conversations: ReadonlyArray<RequestShape> = [
  chat("messages of reasoning alone", 400, (n) => [
    user("f"),
    { role: "assistant", content: "a" },
    ...times(n, () => ({
      role: "assistant",
      content: "",
      reasoning_details: [{ type: "reasoning.text", text: "r" }]
    })),
    user("f")
  ]),
  chat("calls of one id", 300, (n) => [calls(times(n, () => "same")), ...times(n, () => result("same"))]),
  chat("calls of one id without results", 300, (n) => [calls(times(n, () => "same"))]),
  chat("ids that no provider takes", 500, (n) => [
    calls(times(n, (at) => `id ${at}`)),
    ...times(n, (at) => result(`id ${at}`))
  ]),
  chat("results of one call", 2_000, (n) => [calls(["a"]), ...times(n, () => result("a"))]),
  chat("calls and their results in reverse", 1_000, (n) => [
    calls(times(n, (at) => `c${at}`)),
    ...times(n, (at) => result(`c${n - 1 - at}`))
  ]),
  chat("many rounds of calls", 1_000, (n) => times(n, (at) => [calls([`c${at % 7}`]), result(`c${at % 7}`)]).flat()),
  chat("files of one name", 500, (n) => [user(times(n, () => file("same.txt")))]),
  chat("padding in a data URL", 20_000, (n) => [image(`data:image/png;base64,${"=".repeat(n)}x`)]),
  chat("a data URL without a comma", 20_000, (n) => [image(`data:${"a".repeat(n)}`)]),
  chat("a data URL in percent-encoding", 20_000, (n) => [image(`data:image/png;base64,${"%41".repeat(n)}`)]),
  chat("blanks in a data URL", 20_000, (n) => [image(`data:image/png;base64,${" \n".repeat(n)}QUFB`)]),
  chat("blanks", 50_000, (n) => [user(`f${" ".repeat(n)}f`), { role: "assistant", content: `a${"\n".repeat(n)}` }]),
  chat("many messages", 2_000, (n) => times(n, (at) => user(`m${at}`))),
  chat("many system messages", 2_000, (n) => [...times(n, (at) => ({ role: "system", content: `m${at}` })), user("f")]),
  chat("turns of one role", 2_000, (n) => times(n, (at) => ({ role: "assistant", content: `m${at}` }))),
  chat("one long text", 100_000, (n) => [user("lorem ipsum ".repeat(n))]),
  chat("a long text of quotation marks", 50_000, (n) => [user('"“«'.repeat(n))]),
  chat("a long text that says and says", 20_000, (n) => [user("say exactly:".repeat(n))]),
  chat("many parts", 2_000, (n) => [user(times(n, (at) => ({ type: "text", text: `p${at}` })))]),
  chat("many reasoning blocks", 2_000, (n) => [
    user("f"),
    {
      role: "assistant",
      content: "a",
      reasoning_details: times(n, (at) => ({
        type: "reasoning.text",
        text: `t${at}`,
        format: "acme/large",
        index: at % 2
      }))
    }
  ]),
  chat("nested arguments", 500, (n) => [
    calls(
      times(n, () => "c"),
      `${'{"a":'.repeat(30)}1${"}".repeat(30)}`
    )
  ]),
  chat("long arguments", 20_000, (n) => [calls(["c"], JSON.stringify({ a: times(n, (at) => at) }))])
]

const fields: ReadonlyArray<RequestShape> = [
  extra("tools of long names", 250, (n) => ({ tools: times(n, (at) => tool(`${"n".repeat(200)}${at}`)) })),
  extra("tools that a prompt asks for", 250, (n) => ({
    messages: [user("weather ".repeat(200))],
    tools: times(n, (at) => tool(`weather_${at}`, { type: "object", properties: { city: { type: "string" } } }))
  })),
  extra("tools whose names collide", 250, (n) => ({ tools: times(n, (at) => tool(`${"é".repeat(80)}${at}`)) })),
  extra("allowed tools", 250, (n) => ({
    tools: times(n, (at) => tool(`t${at}`)),
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: {
        mode: "auto",
        tools: times(4 * n, (at) => ({ type: "function", function: { name: `t${at % n}` } }))
      }
    }
  })),
  extra("stop strings", 30, (n) => ({ stop: times(n, (at) => `s${at}`) })),
  extra("metadata", 4_000, (n) => ({ metadata: Object.fromEntries(times(n, (at) => [`k${at}`, "v"])) })),
  extra("lists of models and providers", 4_000, (n) => ({
    models: { allow: times(n, (at) => `a/${at}`) },
    provider: { deny: times(n, (at) => `p${at}`) }
  })),
  extra("unknown fields", 4_000, (n) => Object.fromEntries(times(n, (at) => [`x${at}`, at])))
]

const functionCall = (id: string): Json => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" })
const assistant = (content: string): Json => ({ type: "message", role: "assistant", content })

const items: ReadonlyArray<RequestShape> = [
  responses("assistant items after a call", 2_000, (n) => ({
    input: [functionCall("a"), ...times(n, (at) => assistant(`m${at}`))]
  })),
  responses("calls and outputs", 1_000, (n) => ({
    input: [
      ...times(n, (at) => functionCall(`c${at}`)),
      ...times(n, (at) => ({ type: "function_call_output", call_id: `c${at}`, output: "r" }))
    ]
  })),
  responses("outputs with attachments", 1_000, (n) => ({
    input: [
      functionCall("a"),
      {
        type: "function_call_output",
        call_id: "a",
        output: times(n, () => ({ type: "input_image", image_url: "data:image/png;base64,QUFB" }))
      }
    ]
  })),
  responses("reasoning items", 1_000, (n) => ({
    input: [...times(n, (at) => ({ type: "reasoning", summary: [], encrypted_content: reasoning(at) })), assistant("a")]
  })),
  responses("namespaces of one plain name", 250, (n) => ({
    tools: times(n, (at) => ({ type: "namespace", name: `s${at}`, tools: [{ type: "function", name: "same" }] })),
    input: times(n, () => functionCall("c"))
  })),
  responses("custom tools of one name", 250, (n) => ({
    tools: [
      ...times(n, (at) => ({ type: "function", name: `t${at}` })),
      ...times(n, (at) => ({ type: "custom", name: `t${at}` }))
    ]
  })),
  responses("allowed tools", 250, (n) => ({
    tools: times(n, (at) => ({ type: "function", name: `t${at}` })),
    tool_choice: {
      type: "allowed_tools",
      mode: "auto",
      tools: times(4 * n, (at) => ({ type: "function", name: `t${at % n}` }))
    }
  })),
  responses("hosted tools", 4_000, (n) => ({ tools: times(n, () => ({ type: "web_search" })) }))
]

const reasoning = (at: number): string =>
  `mrg1.${Buffer.from(JSON.stringify({ origin: "acme/large", kind: "summary", id: `r${at}` })).toString("base64url")}`

const messages = (name: string, size: number, fields: (size: number) => Json): RequestShape => ({
  name,
  size,
  endpoint: "messages",
  body: (n) => ({ model: "auto", max_tokens: 1_000, messages: [user("f")], ...fields(n) })
})

const said = (content: unknown): Json => ({ role: "assistant", content })
const toolUse = (id: string, input: Json = {}): Json => ({ type: "tool_use", id, name: "f", input })
const toolResult = (id: string, content: unknown = "r"): Json => ({ type: "tool_result", tool_use_id: id, content })
const mark = { cache_control: { type: "ephemeral" } }
const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "QUFB" } }

const blocks: ReadonlyArray<RequestShape> = [
  messages("calls of one id and their results", 300, (n) => ({
    messages: [said(times(n, () => toolUse("same"))), user(times(n, () => toolResult("same")))]
  })),
  messages("calls and their results in reverse", 1_000, (n) => ({
    messages: [said(times(n, (at) => toolUse(`c${at}`))), user(times(n, (at) => toolResult(`c${n - 1 - at}`)))]
  })),
  messages("many turns of calls", 700, (n) => ({
    messages: times(n, (at) => [said([toolUse(`c${at % 7}`)]), user([toolResult(`c${at % 7}`)])]).flat()
  })),
  messages("results with images", 700, (n) => ({
    messages: [
      said([toolUse("a")]),
      user([
        toolResult(
          "a",
          times(n, () => png)
        )
      ])
    ]
  })),
  messages("reasoning between texts", 500, (n) => ({
    messages: [
      user("f"),
      said(
        times(n, (at) => [
          { type: "thinking", thinking: `t${at}`, signature: "s" },
          { type: "text", text: `a${at}` }
        ]).flat()
      )
    ]
  })),
  messages("reasoning of other models", 1_000, (n) => ({
    messages: [user("f"), said(times(n, (at) => ({ type: "redacted_thinking", data: reasoning(at) })))]
  })),
  messages("marks on every block", 1_000, (n) => ({
    system: times(n, (at) => ({ type: "text", text: `s${at}`, ...mark })),
    messages: [user(times(n, (at) => ({ type: "text", text: `u${at}`, ...mark })))]
  })),
  messages("documents of blocks", 700, (n) => ({
    messages: [
      user([{ type: "document", source: { type: "content", content: times(n, () => ({ type: "text", text: "d" })) } }])
    ]
  })),
  messages("search results", 1_000, (n) => ({
    messages: [
      user(
        times(n, (at) => ({
          type: "search_result",
          title: `t${at}`,
          source: "a",
          content: [{ type: "text", text: "x" }]
        }))
      )
    ]
  })),
  messages("users and systems by turns", 1_000, (n) => ({
    messages: times(n, (at) => [user(`u${at}`), { role: "system", content: `s${at}` }]).flat()
  })),
  messages("texts of one turn", 1_000, (n) => ({
    messages: [user("f"), ...times(n, (at) => said(`m${at}`))]
  })),
  messages("hosted tools of many versions", 400, (n) => ({
    tools: times(n, (at) => ({ type: `web_search_${at}`, name: "web_search" })),
    tool_choice: { type: "tool", name: "web_search" }
  })),
  messages("tools of long names", 250, (n) => ({
    tools: times(n, (at) => ({ name: `${"n".repeat(200)}${at}`, input_schema: { type: "object" } })),
    tool_choice: { type: "tool", name: `${"n".repeat(200)}0` }
  })),
  messages("input of one call", 4_000, (n) => ({
    messages: [user("f"), said([toolUse("a", Object.fromEntries(times(n, (at) => [`k${at}`, at])))])]
  })),
  messages("unknown fields", 4_000, (n) => Object.fromEntries(times(n, (at) => [`x${at}`, at])))
]

export const requestShapes: ReadonlyArray<RequestShape> = [...schemas, ...conversations, ...fields, ...items, ...blocks]
