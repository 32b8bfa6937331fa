/** Inputs of our own that have broken other programs. */

/** Strings that are hard on parsers, databases, logs, templates and headers. */
export const naughtyStrings: ReadonlyArray<string> = [
  "",
  " ",
  "\u0000",
  "before\u0000after",
  "\u0001\u0002\u0007\u0008\u001b[31mred\u001b[0m",
  "\r\nset-cookie: a=b",
  "\n\ndata: [DONE]\n\n",
  "\n\nevent: error\ndata: {}\n\n",
  "data: [DONE]",
  "\u2028\u2029\u0085",
  "\ufeff",
  "\ud800",
  "\udc00\ud800",
  "a\ud83d",
  "\uffff\ufffe\u{10ffff}",
  "👩‍👩‍👧‍👦🏳️‍🌈",
  "Z̸̢̛a̷l̶g̵o̸",
  "مرحبا \u202eevil\u202c",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "null",
  "undefined",
  "NaN",
  "-Infinity",
  "1e999",
  "0x10",
  "true",
  "'; drop table calls; --",
  "' or '1'='1",
  "%27%20or%201=1",
  "%s%n%x%d",
  `\${7*7}{{7*7}}<%= 7*7 %>`,
  "$(id)`id`;|id",
  "../../../../etc/passwd",
  "C:\\windows\\system32",
  "file:///etc/passwd",
  "http://169.254.169.254/latest/meta-data/",
  "javascript:alert(1)",
  "<script>alert(1)</script>",
  "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
  "(?:a+)+$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
  "*/*",
  "*",
  "auto",
  "auto:",
  "auto:__proto__",
  "one/",
  "/ok",
  "one/ok/more",
  "one/*",
  "x".repeat(70_000),
  "\\".repeat(1_001),
  '"'.repeat(1_001),
  "é".repeat(30_000)
]

/** Texts that JSON parsers disagree about; none of them is a JSON object. */
export const noRequest: ReadonlyArray<string> = [
  "",
  " ",
  "\u0000",
  "\ufeff",
  "\ufeff\ufeff{}",
  "{",
  "}",
  "[",
  "]",
  "{]",
  "[}",
  "{}{}",
  "{}}",
  "{},",
  "{,}",
  "[,]",
  "[1,]",
  "[1,,2]",
  '{"a"}',
  '{"a":}',
  '{"a" 1}',
  '{"a":1,}',
  '{"a":1 "b":2}',
  "{a:1}",
  "{'a':1}",
  '{"a":1}/* end */',
  '// start\n{"a":1}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":undefined}',
  '{"a":01}',
  '{"a":+1}',
  '{"a":1.}',
  '{"a":.1}',
  '{"a":1e}',
  '{"a":0x1}',
  '{"a":1_000}',
  '{"a":--1}',
  '{"a":"\t"}',
  '{"a":"\n"}',
  '{"a":"\u0000"}',
  '{"a":"\\x41"}',
  '{"a":"\\u12"}',
  '{"a":"\\u{41}"}',
  '{"a":"unfinished',
  '{"a":"\\"}',
  '{"a":tru}',
  '{"a":TRUE}',
  '{"a":nul}',
  "null",
  "true",
  "0",
  "-0",
  "1e999",
  '"text"',
  "[]",
  "[{}]",
  "NaN",
  "\u00a0{}",
  "\u2028{}",
  "\u000b{}",
  "<xml/>",
  "model=auto&messages=hi",
  "--x\r\ncontent-disposition: form-data\r\n\r\n{}",
  `${"[".repeat(100_000)}`,
  `${'{"a":'.repeat(100_000)}`,
  `${"[".repeat(65)}${"]".repeat(65)}`,
  `{"a":${"[".repeat(64)}${"]".repeat(64)}}`
]

/** Bytes that are not UTF-8: each is put inside a string of a request that is fine otherwise. */
export const noUtf8: ReadonlyArray<ReadonlyArray<number>> = [
  [0x80],
  [0xff],
  [0xfe, 0xff],
  [0xc0, 0xaf],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x82, 0x82, 0xac],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98]
]

/** A Responses request that uses every field there is. */
export const fullResponses = {
  model: "one/ok",
  input: [
    { role: "user", content: "plain" },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "t" },
        { type: "input_image", image_url: "https://a.example/b.png", detail: "low" }
      ]
    },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "t", annotations: [] }] },
    { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "o" }
  ],
  instructions: "i",
  tools: [
    { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true },
    { type: "custom", name: "g", description: "d", format: { type: "text" } }
  ],
  tool_choice: "auto",
  stream: true,
  stream_options: { include_obfuscation: false },
  temperature: 1,
  top_p: 1,
  max_output_tokens: 16,
  parallel_tool_calls: true,
  text: { format: { type: "text" }, verbosity: "low" },
  reasoning: { effort: "low", summary: "auto" },
  service_tier: "auto",
  metadata: { a: "b" },
  store: false,
  safety_identifier: "s",
  prompt_cache_key: "k",
  top_logprobs: 1,
  user: "u",
  models: { allow: ["one/*"], deny: ["b"] },
  provider: { allow: ["one"], deny: ["c"] },
  alpha: 0.5
}

type Path = ReadonlyArray<string | number>

/** Every place of a JSON value. */
export function* places(json: unknown, path: Path = []): Generator<readonly [Path, unknown]> {
  yield [path, json]
  if (Array.isArray(json)) for (const [index, value] of json.entries()) yield* places(value, [...path, index])
  else if (typeof json === "object" && json !== null) {
    for (const [key, value] of Object.entries(json)) yield* places(value, [...path, key])
  }
}

/** The same value with another one in that place. */
export const replaced = (json: unknown, [step, ...rest]: Path, value: unknown): unknown => {
  if (step === undefined) return value
  if (Array.isArray(json)) return json.map((each, index) => (index === step ? replaced(each, rest, value) : each))
  return typeof json === "object" && json !== null
    ? Object.fromEntries(
        Object.entries(json).map(([key, each]) => [key, key === step ? replaced(each, rest, value) : each])
      )
    : json
}

/** Values of every kind, to be found where they do not belong. */
export const values: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  Number.MAX_SAFE_INTEGER + 2,
  1e300,
  "text",
  "\ud800",
  [],
  [null],
  [[[[[]]]]],
  {},
  { constructor: { prototype: { polluted: true } } },
  JSON.parse('{"__proto__":{"polluted":true}}')
]
