/** Percent-encodes all characters but the unreserved ones of RFC 3986. */
export const escapeUrl = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
