const unstorable = /[\0\p{Surrogate}]/u
const everyUnstorable = /[\0\p{Surrogate}]/gu

/** PostgreSQL rejects NUL in text, and halves of surrogate pairs in JSON. */
export const isStorable = (text: string): boolean => !unstorable.test(text)

/** The text with a replacement character for each character that cannot be stored. */
export const toStorable = (text: string): string =>
  unstorable.test(text) ? text.replace(everyUnstorable, "\ufffd") : text
