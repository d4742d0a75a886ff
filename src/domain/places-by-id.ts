import type { Int64 } from '../contract/int64.js'

/** A whole number, or any other text. */
export type RecordId = Int64 | string

const FIRST_LENGTH = 64
/** The array grows only if at least 1 slot in 4 is used, so that scattered ids do not enlarge it. */
const SPARSEST = 4

/**
 * Finds a record's place in a list by its id. Ids are mostly consecutive from 1: an array off the heap has those, a Map
 * the others.
 */
export class PlacesById {
  /** Places from 1; 0 means none. */
  #near = new Int32Array(FIRST_LENGTH)
  #nearCount = 0
  #far = new Map<RecordId, number>()

  copy(): PlacesById {
    const copy = new PlacesById()
    copy.#near = this.#near.slice()
    copy.#nearCount = this.#nearCount
    copy.#far = new Map(this.#far)
    return copy
  }

  get(id: RecordId): number | undefined {
    if (!this.#isNear(id)) return this.#far.get(id)
    const place = this.#near[id]
    return place === undefined || place === 0 ? undefined : place - 1
  }

  /** @param place whole number from 0 to 2^31 - 2 */
  set(id: RecordId, place: number): void {
    if (this.#isWorthRoom(id)) this.#grow()
    if (!this.#isNear(id)) {
      this.#far.set(id, place)
      return
    }
    if (this.#near[id] === 0) this.#nearCount++
    this.#near[id] = place + 1
  }

  delete(id: RecordId): void {
    if (!this.#isNear(id)) {
      this.#far.delete(id)
      return
    }
    if (this.#near[id] !== 0) this.#nearCount--
    this.#near[id] = 0
  }

  #isNear(id: RecordId): id is number {
    return typeof id === 'number' && id >= 0 && id < this.#near.length
  }

  /** Whether it is just beyond a well-filled array. */
  #isWorthRoom(id: RecordId): boolean {
    const { length } = this.#near
    return typeof id === 'number' && id >= length && id < length * 2 && this.#nearCount * SPARSEST >= length
  }

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
