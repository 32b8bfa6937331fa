import { addCall } from "../../api/calls.ts"
import { newIdempotencyKey } from "../../api/client.ts"
import { failureOf, unreachable } from "../../api/failure.ts"
import { pageToken, sessionEnded } from "../../api/session.ts"
import type { Image } from "./conversation.ts"

/** Longer sides cost tokens and tell a model little more. */
const maxSide = 2_048
/** Those that a canvas writes as well as it reads them; an animation would lose all but its first picture. */
const drawn: ReadonlyArray<string> = ["image/png", "image/jpeg", "image/webp"]
const quality = 0.9

/** Sends an image; the service judges it by its bytes. */
export const upload = async (file: File): Promise<Image> => {
  const url = `${location.origin}/api/chat/images?filename=${encodeURIComponent(nameOf(file))}`
  const body = await prepared(file)
  const token = pageToken()
  const sentAt = performance.now()
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      "x-csrf-token": token ?? "",
      "idempotency-key": newIdempotencyKey()
    },
    body
  }).catch(() => {
    throw unreachable()
  })
  addCall({
    method: "POST",
    url,
    body: null,
    status: response.status,
    millis: Math.round(performance.now() - sentAt),
    requestId: response.headers.get("x-request-id")
  })
  const answer = await response.json().catch(() => undefined)
  if (response.status === 401) sessionEnded(token)
  if (!response.ok) throw failureOf(response, answer)
  return answer as Image
}

const maxName = 200
/** What is pasted has no name of its own. */
const nameOf = ({ name }: File): string => (name === "" ? "image" : name.slice(0, maxName))

/** Drawn anew: not larger than models look at, and without what a camera writes beside the picture. What is no image stays as it is. */
const prepared = async (file: File): Promise<Blob> => {
  if (!drawn.includes(file.type)) return file
  const bitmap = await createImageBitmap(file).catch(() => undefined)
  if (bitmap === undefined) return file
  const scale = Math.min(1, maxSide / Math.max(bitmap.width, bitmap.height))
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale) || 1, Math.round(bitmap.height * scale) || 1)
  const context = canvas.getContext("2d")
  if (context === null) return file
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  bitmap.close()
  return canvas.convertToBlob({ type: file.type, quality })
}
