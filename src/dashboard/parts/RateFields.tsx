import { NumberInput, SimpleGrid } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import type { Records } from "../api/client.ts"

type Rates = Records["RateLimits"]

/** The fields of rate limits in a form; empty is no limit. */
export interface RateValues {
  requestsPerMinute: string | number
  tokensPerMinute: string | number
  concurrentRequests: string | number
}

export const emptyRates: RateValues = { requestsPerMinute: "", tokensPerMinute: "", concurrentRequests: "" }

export const valuesOf = (rates: Rates): RateValues => ({
  requestsPerMinute: rates.requests_per_minute ?? "",
  tokensPerMinute: rates.tokens_per_minute ?? "",
  concurrentRequests: rates.concurrent_requests ?? ""
})

const checkRate = (value: string | number): string | null =>
  value === "" || Number.isInteger(Number(value)) ? null : "A whole number"

/** For `validate` of a form: what is no number would be sent as no limit. */
export const checkRates = {
  requestsPerMinute: checkRate,
  tokensPerMinute: checkRate,
  concurrentRequests: checkRate
}

/** Without any of them, what the configuration has for all applies. */
export const ratesOf = (values: RateValues): Rates | null => {
  const [requests, tokens, concurrent] = [
    values.requestsPerMinute,
    values.tokensPerMinute,
    values.concurrentRequests
  ].map((value) => (value === "" ? null : Number(value)))
  if (requests === null && tokens === null && concurrent === null) return null
  return {
    requests_per_minute: requests ?? null,
    tokens_per_minute: tokens ?? null,
    concurrent_requests: concurrent ?? null
  }
}

export const RateFields = <Values extends RateValues>({ form }: { readonly form: UseFormReturnType<Values> }) => (
  <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
    <NumberInput
      label="Requests/min"
      min={1}
      allowDecimal={false}
      placeholder="default"
      {...form.getInputProps("requestsPerMinute")}
    />
    <NumberInput
      label="Tokens/min"
      min={1}
      allowDecimal={false}
      placeholder="default"
      {...form.getInputProps("tokensPerMinute")}
    />
    <NumberInput
      label="Concurrent"
      min={1}
      allowDecimal={false}
      placeholder="default"
      {...form.getInputProps("concurrentRequests")}
    />
  </SimpleGrid>
)
