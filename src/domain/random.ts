/**
 * A stream of random numbers that the same seed repeats (mulberry32).
 *
 * Its whole state is one number, which a snapshot can hold.
 */
export interface RandomStream {
  /** The next number in [0, 1). */
  next(): number
  /** Position in the stream; 32 bits. */
  state: number
}

/** Opens the stream of a seed's text: `1:checkout:storm` never shares numbers with `1:checkout:faults`. */
export function randomStream(seed: string): RandomStream {
  return {
    state: hash(seed),
    next() {
      this.state = (this.state + 0x6d2b79f5) | 0
      let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296
    },
  }
}

/** FNV-1a over UTF-16 units, with a final mix so that similar strings give distant states. */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b)
  return (h ^ (h >>> 16)) | 0
}
