import * as HttpServerResponse from "@effect/platform/HttpServerResponse"

/** A page without scripts, on which a buyer decides what happens to a payment of test money. */
export const page = (sessionId: string, amountCents: number, status: string) =>
  HttpServerResponse.text(html(sessionId, amountCents, status), {
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY"
    }
  })

const style = `:root{color-scheme:light dark}body{font:16px system-ui;max-width:28rem;margin:4rem auto;padding:0 1rem}
strong{background:#fd6;color:#000;padding:.2rem .4rem}form{display:inline}button{font:inherit;padding:.5rem 1rem;margin:1rem .5rem 0 0}`

/** The id is a UUID, and everything else is the gateway's own text. */
const html = (sessionId: string, amountCents: number, status: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Test checkout</title><style>${style}</style></head>
<body><h1>Test checkout</h1><p><strong>Test money</strong> Nothing is really paid here.</p>
<p>Credit of $${(amountCents / 100).toFixed(2)} for model calls.</p>
${status === "open" ? ["pay", "decline", "abandon"].map((action) => button(sessionId, action)).join("\n") : outcome(sessionId, status)}
</body></html>`

const labels: Readonly<Record<string, string>> = { pay: "Pay", decline: "Decline", abandon: "Abandon" }

const button = (sessionId: string, action: string): string =>
  `<form method="post" action="?session=${sessionId}&amp;action=${action}"><button>${labels[action]}</button></form>`

/** Where the buyer comes back to. Relative, so that it leads to the gateway also below a path of its host. */
export const returnPath = (sessionId: string): string => `../dashboard/checkout/${sessionId}`

const outcome = (sessionId: string, status: string): string =>
  `<p>State of this checkout: ${status}. <a href="${returnPath(sessionId)}">Go to the dashboard</a></p>`
