import { fullText } from "./FaultServer.ts"

/** How a call ends for its client. Whatever is not `answered` with its whole text is an error that no client overlooks. */
export type End =
  | {
      readonly ends: "answered"
      readonly text: string
      readonly basis: "charged" | "estimated"
      readonly micros: Micros
    }
  /** An HTTP error: nothing of an answer was sent. */
  | {
      readonly ends: "refused"
      readonly status: 400 | 502
      readonly code: string
      readonly retryAfter: Retry
      readonly atLimit?: true
    }
  /** The answer had begun, or its head was out: an error inside the stream, without `[DONE]`. */
  | { readonly ends: "broken"; readonly code: string; readonly atLimit?: true }

/** The least and the most that may be charged. */
type Micros = readonly [number, number]
/** Seconds that `Retry-After` may say; `never` is `x-should-retry: false`. */
type Retry = readonly [number, number] | "never" | "unsaid"

/** One endpoint's way through a fault: with no other route to go to, and with others. */
export interface Course {
  readonly alone: End
  /** `rescued`: another route gives the complete response. `same`: nobody else is asked, or may be. */
  readonly withOthers: "rescued" | "same"
  /** Attempts when alone. */
  readonly attempts: number
}

/** Whom the next call avoids: the route, every route of the provider, or nobody. */
export type Avoided = "route" | "provider" | "nobody"

export interface Row {
  /** Of the catalogue. */
  readonly number: number
  readonly name: string
  /** What the fault server does. */
  readonly fault: string
  /** The connection itself is at fault. */
  readonly atOrigin: boolean
  /** The gateway's deadlines matter: they are a twentieth of the defaults. */
  readonly timed: boolean
  readonly stream: Course
  /** `null`: the fault cannot happen to a non-streaming response. */
  readonly plain: Course | null
  readonly avoided: Avoided
  /** Failures until it is avoided; 0 where the fault is too large to be repeated. */
  readonly failures: number
  /** It is avoided for a second only: a busy machine may take longer to ask again. */
  readonly isBrief: boolean
}

/** 10 tokens in and 60 out at 1 and 2 USD for a million. */
const exact: Micros = [130, 130]

const answered = (more: Partial<Extract<End, { readonly ends: "answered" }>> = {}): Course => ({
  alone: { ends: "answered", text: fullText, basis: "charged", micros: exact, ...more },
  withOthers: "same",
  attempts: 1
})
const refused = (code: string, more: Partial<Course> & { readonly retryAfter?: Retry } = {}): Course => ({
  alone: { ends: "refused", status: 502, code, retryAfter: more.retryAfter ?? "never" },
  withOthers: more.withOthers ?? "rescued",
  attempts: more.attempts ?? 1
})
const blamed = (code: string, withOthers: Course["withOthers"]): Course => ({
  alone: { ends: "refused", status: 400, code, retryAfter: "unsaid" },
  withOthers,
  attempts: 1
})
/** Before any content the others can still be asked, also when the head is out. */
const broken = (code: string, withOthers: Course["withOthers"] = "same"): Course => ({
  alone: { ends: "broken", code },
  withOthers,
  attempts: 1
})

/** The gateway's own limit ends it: the call costs what a client pays that leaves. */
const atLimit = (course: Course): Course =>
  course.alone.ends === "answered" ? course : { ...course, alone: { ...course.alone, atLimit: true } }

const row = (
  number: number,
  name: string,
  fault: string,
  stream: Course,
  plain: Course | null,
  more: Partial<Pick<Row, "atOrigin" | "timed" | "avoided" | "failures" | "isBrief">> = {}
): Row => ({
  number,
  name,
  fault,
  stream,
  plain,
  atOrigin: false,
  timed: false,
  avoided: "route",
  failures: 5,
  isBrief: false,
  ...more
})

const both = (number: number, name: string, fault: string, course: Course, more: Parameters<typeof row>[5] = {}): Row =>
  row(number, name, fault, course, course, more)

const origin = { atOrigin: true, avoided: "provider" } as const
const timed = { timed: true } as const
const harmless = { avoided: "nobody" } as const
const cools = { avoided: "route", failures: 1 } as const
const outAtOnce = { avoided: "provider", failures: 1 } as const

/** What every fault of a provider comes to. */
export const catalogue: ReadonlyArray<Row> = [
  both(1, "connection refused", "refused", refused("provider_unreachable", { attempts: 2 }), origin),
  both(2, "unknown host", "unknown-host", refused("provider_unreachable", { attempts: 2 }), origin),
  both(3, "no TLS where TLS should be", "no-tls", refused("provider_unreachable"), origin),
  both(4, "connecting takes too long", "mute-handshake", refused("provider_timeout", { attempts: 2 }), origin),
  both(5, "reset before any byte", "reset", refused("provider_unreachable"), { atOrigin: true }),
  row(6, "no head", "slow-head", broken("provider_timeout", "rescued"), refused("provider_timeout"), timed),
  row(
    7,
    "a head without content",
    "slow-content",
    broken("provider_timeout", "rescued"),
    refused("provider_timeout"),
    timed
  ),
  both(8, "slow, but on its way", "trickle", answered(), { ...timed, ...harmless }),
  row(
    9,
    "stalled before its content",
    "stall-before-content",
    broken("provider_timeout", "rescued"),
    refused("provider_timeout"),
    timed
  ),
  row(
    10,
    "stalled after its first content",
    "stall-after-content",
    broken("stream_stalled"),
    refused("provider_timeout"),
    timed
  ),
  both(11, "cut before its content", "cut-before-content", refused("provider_disconnected")),
  row(
    11,
    "ended before its content",
    "end-before-content",
    refused("provider_disconnected"),
    refused("provider_bad_response")
  ),
  row(
    12,
    "cut after its first content",
    "cut-after-content",
    broken("provider_disconnected"),
    refused("provider_disconnected")
  ),
  row(
    12,
    "ended in good order without a finish",
    "end-after-content",
    broken("provider_disconnected"),
    refused("provider_bad_response")
  ),
  both(13, "finished without [DONE]", "no-done", answered(), harmless),
  row(
    13,
    "finished, but never ended",
    "no-done-no-end",
    answered({ basis: "estimated", micros: [60, 1_000] }),
    answered(),
    { ...harmless, failures: 2 }
  ),
  both(14, "malformed", "malformed", refused("provider_bad_response")),
  row(14, "malformed after its first content", "malformed-after-content", broken("provider_bad_response"), null),
  row(
    14,
    "an unknown finish reason",
    "finish-unknown",
    broken("provider_bad_response"),
    refused("provider_bad_response")
  ),
  row(14, "content after its finish", "content-after-finish", broken("provider_bad_response"), null),
  row(14, "content that is no text", "content-odd", broken("provider_bad_response"), refused("provider_bad_response")),
  row(
    14,
    "an event nested too deep",
    "nested-too-deep",
    broken("provider_bad_response"),
    refused("provider_bad_response")
  ),
  row(15, "an event without end", "giant-event", refused("provider_bad_response"), null),
  row(15, "an event without end after content", "giant-event-after-content", broken("provider_bad_response"), null),
  row(
    15,
    "an answer without end",
    "giant-answer",
    atLimit(broken("provider_bad_response")),
    atLimit(refused("provider_bad_response")),
    { failures: 0 }
  ),
  both(16, "a web page", "html", refused("provider_bad_response")),
  both(17, "an error with status 200", "error-200", refused("provider_error")),
  both(17, "a rate limit with status 200", "error-200-rate", refused("provider_rate_limited"), cools),
  both(17, "no money with status 200", "error-200-quota", refused("provider_unavailable"), outAtOnce),
  both(18, "an error as the first event", "error-first", refused("provider_error", { attempts: 2 })),
  both(18, "an error beside empty choices", "error-chunk", refused("provider_error", { attempts: 2 })),
  row(18, "an error after content", "error-after-content", broken("provider_error"), null),
  row(
    18,
    "an error as the finish reason",
    "error-finish",
    broken("provider_error"),
    refused("provider_error", { attempts: 2 })
  ),
  both(
    19,
    "a rate limit in seconds",
    "limited-seconds",
    refused("provider_rate_limited", { retryAfter: [7, 7] }),
    cools
  ),
  both(19, "a rate limit to a date", "limited-date", refused("provider_rate_limited", { retryAfter: [6, 8] }), cools),
  both(
    19,
    "a rate limit in milliseconds",
    "limited-millis",
    refused("provider_rate_limited", { retryAfter: [7, 7] }),
    cools
  ),
  both(
    19,
    "a rate limit that is soon over",
    "limited-shortly",
    refused("provider_rate_limited", { retryAfter: [1, 1], attempts: 2 }),
    { ...cools, isBrief: true }
  ),
  both(20, "a rate limit without a time", "limited-bare", refused("provider_rate_limited"), cools),
  both(21, "out of money (429)", "quota-429", refused("provider_unavailable"), outAtOnce),
  both(21, "out of money (402)", "quota-402", refused("provider_unavailable"), outAtOnce),
  both(22, "500", "status-500", refused("provider_error", { attempts: 2 })),
  ...[502, 503, 504, 529].map((status) => both(22, `${status}`, `status-${status}`, refused("provider_error"))),
  both(22, "503 with a time", "overloaded-named", refused("provider_error"), cools),
  both(23, "our credential refused (401)", "status-401", refused("provider_unavailable"), outAtOnce),
  both(23, "our credential refused (403)", "status-403", refused("provider_unavailable"), outAtOnce),
  both(24, "the model is gone", "model-gone", refused("provider_error"), { failures: 1 }),
  both(25, "the request rejected", "rejected", blamed("provider_rejected_request", "rescued"), harmless),
  both(26, "the prompt too long (400)", "too-long", blamed("context_length_exceeded", "rescued"), harmless),
  both(26, "the prompt too long (413)", "too-large", blamed("context_length_exceeded", "rescued"), harmless),
  both(27, "refused by content policy", "policy", blamed("content_policy_violation", "same"), harmless),
  both(27, "filtered at its end", "filtered", answered(), harmless),
  both(28, "empty, but finished", "empty", { ...answered({ text: "" }), withOthers: "rescued" }, harmless),
  both(28, "empty without a finish", "blank", refused("empty_completion"), { failures: 10 }),
  both(29, "usage twice", "usage-twice", answered(), harmless),
  both(30, "no usage", "usage-missing", answered({ basis: "estimated", micros: [60, 1_000] }), harmless),
  both(31, "negative usage", "usage-negative", answered({ basis: "estimated", micros: [60, 1_000] }), harmless),
  both(31, "usage that is no number", "usage-text", answered({ basis: "estimated", micros: [60, 1_000] }), harmless),
  both(31, "more output than its cap", "usage-huge", answered({ basis: "estimated", micros: [60, 1_000] }), harmless),
  both(31, "usage beyond all numbers", "usage-unsafe", answered({ basis: "estimated", micros: [60, 1_000] }), harmless),
  both(32, "a redirect", "redirect", refused("provider_error")),
  both(33, "another model answers", "other-model", answered(), harmless)
]
