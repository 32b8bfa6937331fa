export type StripeMode = "live" | "test"

/** Of a secret or restricted key, as `sk_test_…` or `rk_live_…`; unknown for one of another form, as stand-ins of Stripe's API have. */
export const modeOfKey = (secretKey: string): StripeMode | undefined => {
  const mode = /^[a-z]+_(live|test)_/.exec(secretKey)?.[1]
  return mode === "live" || mode === "test" ? mode : undefined
}

/** In test mode nobody pays: what it tells must credit nothing under a live key, nor the reverse. */
export const isOfOtherMode = (mode: StripeMode | undefined, livemode: unknown): boolean =>
  mode !== undefined && typeof livemode === "boolean" && livemode !== (mode === "live")
