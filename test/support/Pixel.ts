/** A PNG image of one pixel, in base64. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
export const pixelBytes = Buffer.from(pixel, "base64")
export const pixelUrl = `data:image/png;base64,${pixel}`
