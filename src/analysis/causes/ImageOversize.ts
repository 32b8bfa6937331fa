import { type Cause, found } from "../Cause.ts"
import { noEdits } from "../Rebill.ts"

/** Images with more pixels than models see. */
export const imageOversize: Cause = {
  id: "image_oversize",
  number: 23,
  tier: "info",
  owner: "client",
  title: "Images are larger than models see them",
  falsePositiveIf: "The provider scales the image down and charges for that; small text may need every pixel.",
  advice: "Scale images to 1,568 pixels on their longer edge, or ask for low detail.",
  find: ({ workload }) => {
    const calls = new Set<number>()
    let images = 0
    workload.calls.forEach((call, index) => {
      const large = call.images.filter(({ height, width }) => Math.max(width, height) > usefulEdgePixels)
      if (!call.isInRange || large.length === 0) return
      images += large.length
      calls.add(index)
    })
    return found(
      noEdits,
      calls,
      1,
      [...calls].map((call) => ({ call, block: null })),
      { images }
    )
  }
}

/** Anthropic's documentation; larger images are scaled down. */
const usefulEdgePixels = 1568
