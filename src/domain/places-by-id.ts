import type { Int64 } from '../contract/int64.js'

const FIRST_LENGTH = 64
/** Of the array at least one place in so many is taken before it grows, so that a few scattered ids cannot make it large. */
const SPARSEST = 4

/**
 * Finds by its id where in a list a pet stands.
 *
 * Ids are mostly given one after the other from 1 on. Those are looked up in an
 * array outside of the heap, which a million of them fill in a few milliseconds
 * and the garbage collector never walks through; all others are in a Map.
 */
export class PlacesById {
  /** By id; a place is counted from 1, so that 0 is none. */
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

  /** Whether it is just beyond an array that is well filled. */
  #isWorthRoom(id: Int64): boolean {
    const { length } = this.#near
    return typeof id === 'number' && id >= length && id < length * 2 && this.#nearCount * SPARSEST >= length
  }

  /** Doubles the array, and takes in those that it has room for now. */
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
