const base = `${location.origin}/v1`

/** A first call by client, with the key in its place. */
export const snippets: Readonly<Record<string, (secret: string) => string>> = {
  curl: (secret) => `curl ${base}/chat/completions \\
  -H "authorization: Bearer ${secret}" -H "content-type: application/json" \\
  -d '{"model":"auto","messages":[{"role":"user","content":"Say hello."}]}'`,
  "OpenAI SDK": (secret) => `import OpenAI from "openai"

const client = new OpenAI({ baseURL: "${base}", apiKey: ${secret.startsWith("$") ? "process.env.GATEWAY_API_KEY" : JSON.stringify(secret)} })
const answer = await client.chat.completions.create({
  model: "auto",
  messages: [{ role: "user", content: "Say hello." }]
})
console.log(answer.choices[0].message.content)`,
  ".env": (secret) => `OPENAI_BASE_URL=${base}
OPENAI_API_KEY=${secret}`
}
