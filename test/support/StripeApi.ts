import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** A checkout session as the stand-in keeps it. */
export interface StripeSession {
  readonly id: string
  readonly client_reference_id: string
  readonly amount_total: number
  readonly currency: string
  payment_intent: string | null
  payment_status: "unpaid" | "paid"
  status: "open" | "complete" | "expired"
}

export interface StripeApi {
  readonly url: string
  readonly sessions: ReadonlyMap<string, StripeSession>
  readonly authorizations: ReadonlySet<string | undefined>
  /** Requests so far. */
  requests: number
  /** Fails every request from now on, or no more. */
  fails: boolean
  readonly stop: () => Promise<void>
}

/** The part of Stripe's API that checkouts use, on loopback. */
export const start = async (): Promise<StripeApi> => {
  const sessions = new Map<string, StripeSession>()
  const byKey = new Map<string, string>()
  const authorizations = new Set<string | undefined>()
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      api.requests += 1
      authorizations.add(request.headers.authorization)
      const answer = (status: number, body: object) => {
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify(body))
      }
      if (api.fails) return answer(400, { error: { type: "invalid_request_error", message: "no" } })
      const id = /^\/v1\/checkout\/sessions\/(\w+)$/.exec(request.url ?? "")?.[1]
      if (id !== undefined) return answer(200, { object: "checkout.session", ...sessions.get(id) })
      const form = new URLSearchParams(Buffer.concat(parts).toString("utf8"))
      const key = String(request.headers["idempotency-key"])
      const known = byKey.get(key) ?? `cs_test_${sessions.size + 1}`
      byKey.set(key, known)
      const session: StripeSession = sessions.get(known) ?? {
        id: known,
        client_reference_id: form.get("client_reference_id") ?? "",
        amount_total: Number(form.get("line_items[0][price_data][unit_amount]")),
        currency: form.get("line_items[0][price_data][currency]") ?? "",
        payment_intent: null,
        payment_status: "unpaid",
        status: "open"
      }
      sessions.set(known, session)
      answer(200, { object: "checkout.session", ...session, url: `https://checkout.example/${known}` })
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const api: StripeApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    authorizations,
    requests: 0,
    fails: false,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
  return api
}
