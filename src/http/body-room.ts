/** What all connections together may hold of request bodies: 64 of the largest that the service reads. */
export const BODIES_LIMIT_BYTES = 64 * 1024 * 1024

/** A body that is still coming. */
export interface ComingBody {
  /** It has lost its room: what has come of it is let go. */
  giveUp(): void
}

/**
 * The room that there is for request bodies, on all connections together.
 *
 * Where it is used up, a body that is still coming loses what it holds: the one
 * of which nothing has come for the longest time, so that senders who stall can
 * keep the others out for no longer than it takes to send something.
 */
export class BodyRoom {
  readonly #limit: number
  #held = 0
  /** What each holds; who has waited for the longest time is the first. */
  readonly #coming = new Map<ComingBody, number>()

  constructor(limit: number = BODIES_LIMIT_BYTES) {
    this.#limit = limit
  }

  get held(): number {
    return this.#held
  }

  /** Something has come. @returns whether there is room for the body to hold so many bytes */
  grow(body: ComingBody, bytes: number): boolean {
    this.leave(body)
    if (!this.make(bytes)) return false
    this.#coming.set(body, bytes)
    this.#held += bytes
    return true
  }

  /** Something has come for which there was room. */
  touch(body: ComingBody): void {
    const bytes = this.#coming.get(body) ?? 0
    this.#coming.delete(body)
    this.#coming.set(body, bytes)
  }

  /** The body has come, or has been given up. */
  leave(body: ComingBody): void {
    this.#held -= this.#coming.get(body) ?? 0
    this.#coming.delete(body)
  }

  /** Holds a body that has come while it is answered; to be given back. */
  lend(bytes: number): void {
    this.#held += bytes
  }

  giveBack(bytes: number): void {
    this.#held -= bytes
  }

  /** Sees to it that there is room. @returns whether there is */
  make(bytes: number): boolean {
    if (this.#held + bytes <= this.#limit) return true
    for (const body of this.#coming.keys()) {
      this.leave(body)
      body.giveUp()
      if (this.#held + bytes <= this.#limit) return true
    }
    return false
  }
}
