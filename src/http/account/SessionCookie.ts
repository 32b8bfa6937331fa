/** `__Host-` binds the cookie to the host over https; over http the port keeps services of one host apart. */
export const nameAt = (publicUrl: string): string => {
  const url = new URL(publicUrl)
  return url.protocol === "https:" ? "__Host-gateway_session" : `gateway_session_${url.port === "" ? "80" : url.port}`
}

/** `Set-Cookie` of a session; scripts of pages cannot read it, and other sites cannot send it. */
export const set = (publicUrl: string, token: string, maxAgeSeconds: number): string =>
  cookie(publicUrl, `${nameAt(publicUrl)}=${token}`, maxAgeSeconds, "Strict")

/** Of a sign-in at the identity provider. */
export const flowNameAt = (publicUrl: string): string => nameAt(publicUrl).replace("session", "sign_in")

/** A person may begin in one tab after another; with more the oldest is given up. */
const maxFlows = 4
const flowSeparator = "."

/** Sent with the redirect back from the identity provider, which is another site; of all sign-ins that have begun, newest first. */
export const setFlows = (publicUrl: string, secrets: ReadonlyArray<string>, maxAgeSeconds: number): string => {
  const kept = secrets.slice(0, maxFlows)
  return cookie(
    publicUrl,
    `${flowNameAt(publicUrl)}=${kept.join(flowSeparator)}`,
    kept.length === 0 ? 0 : maxAgeSeconds,
    "Lax"
  )
}

/** The secrets that a cookie of `setFlows` has. */
export const flowsIn = (value: string | undefined): ReadonlyArray<string> =>
  (value ?? "").split(flowSeparator).filter((secret) => secret !== "")

const cookie = (publicUrl: string, pair: string, maxAgeSeconds: number, sameSite: "Strict" | "Lax"): string =>
  [
    pair,
    "Path=/",
    `Max-Age=${maxAgeSeconds}`,
    "HttpOnly",
    `SameSite=${sameSite}`,
    ...(publicUrl.startsWith("https:") ? ["Secure"] : [])
  ].join("; ")

export const cleared = (publicUrl: string): string => set(publicUrl, "", 0)
