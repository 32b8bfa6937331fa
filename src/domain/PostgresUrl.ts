/** What a database URL must be; the driver takes any other text as a host of the name `base`, or as a path. */
export const isPostgresUrl = (text: string): boolean =>
  // it accepts a URL without a host, for a socket
  /^postgres(ql)?:\/\/[\x21-\x7e]+$/.test(text) && URL.canParse(text.replace("@/", "@localhost/"))

export const wrongPostgresUrl = "must be a URL of the form postgres://user:password@host:port/database"
