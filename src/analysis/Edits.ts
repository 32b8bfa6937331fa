/**
 * What a cause would change. Edits of several causes are united: the result is the same in any order, so that shares of a joint
 * saving do not depend on the order of causes in the code.
 */
export type Edits = ReadonlyMap<number, CallEdit>

/** By position of the call. */
export interface CallEdit {
  /** The call is not made. */
  readonly drop?: true
  /** Blocks, by position, with other texts. Of two edits the smaller one counts. */
  readonly resize?: ReadonlyMap<number, Resized>
  /** Positions of blocks that stand for their canonical form. */
  readonly canonical?: ReadonlySet<number>
  /** Tools are sent in a fixed order. */
  readonly sortTools?: true
  /** `auto`: after the instructions and at the end. It wins over `none`. */
  readonly marks?: "auto" | "none"
  readonly longTtl?: true
  /** The cache of this route is used. */
  readonly cacheRoute?: string
  /** The share of the predicted read that comes back, 0 to 1, where the provider's cache has lost it. */
  readonly restore?: number
}

export interface Resized {
  /** As the route bills it; 0: the block is left out. */
  readonly tokens: number
  /** What has become of the block: the same on each route, as its tokens are not. */
  readonly form: string
}

const united = (a: CallEdit | undefined, b: CallEdit): CallEdit => {
  if (a === undefined) return b
  return {
    ...a,
    ...b,
    ...(a.resize !== undefined && b.resize !== undefined && { resize: smaller(a.resize, b.resize) }),
    ...(a.canonical !== undefined &&
      b.canonical !== undefined && { canonical: new Set([...a.canonical, ...b.canonical]) }),
    ...((a.marks === "auto" || b.marks === "auto") && { marks: "auto" as const }),
    ...(a.restore !== undefined && b.restore !== undefined && { restore: Math.max(a.restore, b.restore) }),
    ...(a.cacheRoute !== undefined &&
      b.cacheRoute !== undefined && { cacheRoute: a.cacheRoute < b.cacheRoute ? a.cacheRoute : b.cacheRoute })
  }
}

export const unionOf = (all: Iterable<Edits>): Edits => {
  const union = new Map<number, CallEdit>()
  for (const edits of all) for (const [call, edit] of edits) union.set(call, united(union.get(call), edit))
  return union
}

const smaller = (a: ReadonlyMap<number, Resized>, b: ReadonlyMap<number, Resized>): ReadonlyMap<number, Resized> => {
  const both = new Map(a)
  for (const [block, resized] of b) {
    const other = both.get(block)
    if (other === undefined || isSmaller(resized, other)) both.set(block, resized)
  }
  return both
}

const isSmaller = (a: Resized, b: Resized): boolean => a.tokens < b.tokens || (a.tokens === b.tokens && a.form < b.form)

/** Collects the edits of one cause. */
export class EditList {
  readonly edits = new Map<number, CallEdit>()
  add(call: number, edit: CallEdit): void {
    this.edits.set(call, united(this.edits.get(call), edit))
  }
}
