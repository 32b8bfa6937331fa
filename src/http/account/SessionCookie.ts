/** `__Host-` binds the cookie to the host over https; over http the port keeps services of one host apart. */
export const nameAt = (publicUrl: string): string => {
  const url = new URL(publicUrl)
  return url.protocol === "https:" ? "__Host-gateway_session" : `gateway_session_${url.port === "" ? "80" : url.port}`
}

/** `Set-Cookie` of a session; scripts of pages cannot read it, and other sites cannot send it. */
export const set = (publicUrl: string, token: string, maxAgeSeconds: number): string =>
  [
    `${nameAt(publicUrl)}=${token}`,
    "Path=/",
    `Max-Age=${maxAgeSeconds}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(publicUrl.startsWith("https:") ? ["Secure"] : [])
  ].join("; ")

export const cleared = (publicUrl: string): string => set(publicUrl, "", 0)
