import type { Model } from "../domain/Model.ts"

/** How many attempts are running at each route, on this node. */
export class Load {
  private readonly running = new Map<string, number>()

  readonly of = ({ id }: Model): number => this.running.get(id) ?? 0

  started({ id }: Model): void {
    this.running.set(id, (this.running.get(id) ?? 0) + 1)
  }

  ended({ id }: Model): void {
    const left = (this.running.get(id) ?? 0) - 1
    if (left > 0) this.running.set(id, left)
    else this.running.delete(id)
  }
}
