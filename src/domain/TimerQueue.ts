/** A callback and the time at which it is due. */
export interface QueuedTimer {
  readonly atMillis: number
  readonly run: () => void
}

interface Entry extends QueuedTimer {
  readonly order: number
  /** In the heap; -1 once it has been removed. */
  index: number
}

/** Timers in order of the time at which they are due, those of the same instant in the order of their creation: a binary heap. */
export class TimerQueue {
  private readonly entries: Array<Entry> = []
  private order = 0

  /** The timer that is due next. */
  get first(): QueuedTimer | undefined {
    return this.entries[0]
  }

  get size(): number {
    return this.entries.length
  }

  /** Returns what removes the timer, without effect where it is removed already. */
  add(atMillis: number, run: () => void): () => void {
    const entry: Entry = { atMillis, order: this.order++, run, index: this.entries.length }
    this.entries.push(entry)
    this.moveUp(entry)
    return () => this.remove(entry)
  }

  removeFirst(): void {
    const first = this.entries[0]
    if (first !== undefined) this.remove(first)
  }

  private remove(entry: Entry): void {
    const { index } = entry
    if (index < 0) return
    entry.index = -1
    const last = this.entries.pop()
    if (last === undefined || last === entry) return
    this.place(last, index)
    this.moveUp(last)
    this.moveDown(last)
  }

  private moveUp(entry: Entry): void {
    while (entry.index > 0) {
      const parent = this.entries[(entry.index - 1) >> 1]
      if (parent === undefined || !isBefore(entry, parent)) return
      this.swap(entry, parent)
    }
  }

  private moveDown(entry: Entry): void {
    for (;;) {
      const left = this.entries[2 * entry.index + 1]
      const right = this.entries[2 * entry.index + 2]
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || !isBefore(child, entry)) return
      this.swap(entry, child)
    }
  }

  private swap(a: Entry, b: Entry): void {
    const { index } = a
    this.place(a, b.index)
    this.place(b, index)
  }

  private place(entry: Entry, index: number): void {
    entry.index = index
    this.entries[index] = entry
  }
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.atMillis < b.atMillis || (a.atMillis === b.atMillis && a.order < b.order)
