/** An HTTP client that keeps cookies and follows redirects, as a browser does for a person who signs in. */
export interface Browser {
  /** By name; of all hosts, which in a test are the ports of one. */
  readonly cookies: Map<string, string>
  /** The URLs of all requests. */
  readonly visited: Array<string>
  readonly get: (url: string) => Promise<Response>
  /** Follows redirects until `isEnd` holds of the next URL, which is not visited. */
  readonly follow: (url: string, isEnd: (url: string) => boolean) => Promise<Page>
  readonly submit: (
    url: string,
    form: Readonly<Record<string, string>>,
    isEnd: (url: string) => boolean
  ) => Promise<Page>
}

export interface Page {
  readonly url: string
  /** Empty at an end that is not visited. */
  readonly html: string
}

export const openBrowser = (): Browser => {
  const cookies = new Map<string, string>()
  const visited: Array<string> = []
  const request = async (url: string, init: RequestInit = {}) => {
    visited.push(url)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = await fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, cookie } })
    for (const set of response.headers.getSetCookie()) keep(cookies, set)
    return response
  }
  const settle = async (url: string, response: Response, isEnd: (url: string) => boolean): Promise<Page> => {
    const location = response.headers.get("location")
    if (location === null) return { url, html: await response.text() }
    const next = new URL(location, url).href
    return isEnd(next) ? { url: next, html: "" } : settle(next, await request(next), isEnd)
  }
  return {
    cookies,
    visited,
    get: (url) => request(url),
    follow: async (url, isEnd) => settle(url, await request(url), isEnd),
    submit: async (url, form, isEnd) =>
      settle(
        url,
        await request(url, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: new URLSearchParams(form).toString()
        }),
        isEnd
      )
  }
}

const keep = (cookies: Map<string, string>, set: string): void => {
  const [pair = "", ...attributes] = set.split(";")
  const at = pair.indexOf("=")
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
  const isGone = value === "" || attributes.some((one) => /max-age=0$|expires=.*1970/i.test(one.trim()))
  if (isGone) cookies.delete(name)
  else cookies.set(name, value)
}
