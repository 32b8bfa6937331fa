import { useState, useSyncExternalStore } from "react"
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

let nextKey = 0

/** The images of one draft, each sent as soon as it is attached. */
const makeImages = () => {
  let list: ReadonlyArray<Attachment> = []
  let leftOut = 0
  const listeners = new Set<() => void>()
  const set = (next: ReadonlyArray<Attachment>) => {
    list = next
    for (const listener of listeners) listener()
  }
  const change = (key: number, to: Partial<Attachment>) =>
    set(list.map((each) => (each.key === key ? { ...each, ...to } : each)))
  const leave = (stays: (each: Attachment) => boolean) => {
    leftOut = 0
    for (const each of list) if (!stays(each)) URL.revokeObjectURL(each.preview)
    set(list.filter(stays))
  }
  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    current: () => list,
    /** How many of the last files there was no place for; it changes with the list. */
    leftOut: () => leftOut,
    add: (files: Iterable<File>) => {
      const given = [...files]
      const taken = given.slice(0, Math.max(0, maxImages - list.length))
      leftOut = given.length - taken.length
      if (taken.length === 0) set([...list])
      for (const file of taken) {
        const key = nextKey++
        const preview = URL.createObjectURL(file)
        set([...list, { key, name: file.name, preview, image: undefined, error: null }])
        void import("./upload.ts")
          .then(({ upload }) => upload(file))
          .then(
            (image) => change(key, { image }),
            (error: unknown) => change(key, { error })
          )
      }
    },
    remove: (key: number) => leave((each) => each.key !== key),
    /** Those that were attached while a question was sent belong to the next one. */
    taken: (sent: ReadonlyArray<string>) => leave(({ image }) => image === undefined || !sent.includes(image.id))
  }
}

type Images = ReturnType<typeof makeImages>

/** By the name of the draft: like its text, they stay while another page is shown. */
const imagesOf = new Map<string, Images>()

const openImages = (name: string): Images => {
  const images = imagesOf.get(name) ?? makeImages()
  imagesOf.set(name, images)
  return images
}

/** The images of a draft, by their keys. */
export const attachedTo = (name: string): ReadonlyArray<number> =>
  openImages(name)
    .current()
    .map(({ key }) => key)

/** What was attached after a question was sent goes on in another field. */
export const moveImages = (sent: ReadonlyArray<string>, from: string, to: string): void => {
  const images = openImages(from)
  images.taken(sent)
  imagesOf.delete(from)
  imagesOf.set(to, images)
}

/** The images of the question that is written under this name. */
export const useAttachments = (name: string) => {
  const [images] = useState(() => openImages(name))
  const list = useSyncExternalStore(images.subscribe, images.current)
  return {
    list,
    leftOut: images.leftOut(),
    isReady: list.every(({ image }) => image !== undefined),
    add: images.add,
    remove: images.remove,
    taken: images.taken
  }
}

export type Attachments = ReturnType<typeof useAttachments>
