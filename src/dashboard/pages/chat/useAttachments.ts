import { useEffect, useRef, useState } from "react"
import type { Image } from "./conversation.ts"

/** An image of the question that is being written. */
export interface Attachment {
  readonly key: number
  readonly name: string
  /** Of the file in this browser. */
  readonly preview: string
  readonly image: Image | undefined
  readonly error: unknown
}

export const maxImages = 8

/** The images of a question, each sent as soon as it is attached. */
export const useAttachments = () => {
  const [list, setList] = useState<ReadonlyArray<Attachment>>([])
  const nextKey = useRef(0)
  const previews = useRef(new Set<string>())
  useEffect(() => {
    const { current } = previews
    return () => {
      for (const preview of current) URL.revokeObjectURL(preview)
    }
  }, [])
  const change = (key: number, to: Partial<Attachment>) =>
    setList((before) => before.map((each) => (each.key === key ? { ...each, ...to } : each)))
  return {
    list,
    isReady: list.every(({ image }) => image !== undefined),
    add: (files: Iterable<File>) => {
      for (const file of [...files].slice(0, Math.max(0, maxImages - list.length))) {
        const key = nextKey.current++
        const preview = URL.createObjectURL(file)
        previews.current.add(preview)
        setList((before) => [...before, { key, name: file.name, preview, image: undefined, error: null }])
        void import("./upload.ts")
          .then(({ upload }) => upload(file))
          .then(
            (image) => change(key, { image }),
            (error: unknown) => change(key, { error })
          )
      }
    },
    remove: (key: number) => setList((before) => before.filter((each) => each.key !== key)),
    /** Those that were attached while a question was sent belong to the next one. */
    taken: (sent: ReadonlyArray<Attachment>) =>
      setList((before) => before.filter(({ key }) => sent.every((each) => each.key !== key)))
  }
}

export type Attachments = ReturnType<typeof useAttachments>
