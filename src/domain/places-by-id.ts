import type { Int64 } from '../contract/int64.js'

const FIRST_LENGTH = 64
/** The array grows only if at least one slot in this many is taken, so that a few scattered ids cannot make it large. */
const SPARSEST = 4

/**
 * Finds a pet's place in a list by its id.
 *
 * Ids are mostly assigned consecutively from 1. Those are looked up in an
 * array off the heap, which a million of them fill in a few milliseconds
 * and the garbage collector never scans; all others are in a Map.
 */
export class PlacesById {
  /** By id; places count from 1, and 0 means none. */
  #near = new Int32Array(FIRST_LENGTH)
  #nearCount = 0
  readonly #far = new Map<Int64, number>()

  get(id: Int64): number | undefined {
    if (!this.#isNear(id)) return this.#far.get(id)
    const place = this.#near[id]
    return place === undefined || place === 0 ? undefined : place - 1
  }

  /** @param place whole number from 0 to 2^31 - 2 */
  set(id: Int64, place: number): void {
    if (this.#isWorthRoom(id)) this.#grow()
    if (!this.#isNear(id)) {
      this.#far.set(id, place)
      return
    }
    if (this.#near[id] === 0) this.#nearCount++
    this.#near[id] = place + 1
  }

  delete(id: Int64): void {
    if (!this.#isNear(id)) {
      this.#far.delete(id)
      return
    }
    if (this.#near[id] !== 0) this.#nearCount--
    this.#near[id] = 0
  }

  #isNear(id: Int64): id is number {
    return typeof id === 'number' && id >= 0 && id < this.#near.length
  }

  /** Whether it is just beyond a well-filled array. */
  #isWorthRoom(id: Int64): boolean {
    const { length } = this.#near
    return typeof id === 'number' && id >= length && id < length * 2 && this.#nearCount * SPARSEST >= length
  }

  /** Doubles the array, and moves in the ids that now fit. */
  #grow(): void {
    const longer = new Int32Array(this.#near.length * 2)
    longer.set(this.#near)
    this.#near = longer
    for (const [id, place] of this.#far) {
      if (!this.#isNear(id)) continue
      this.#far.delete(id)
      this.set(id, place)
    }
  }
}
