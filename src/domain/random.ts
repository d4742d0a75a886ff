/** mulberry32. The whole state is one number. */
export interface RandomStream {
  next(): number
  state: number
}

export function randomStream(seed: string): RandomStream {
  return streamAt(hash(seed))
}

export function streamAt(state: number): RandomStream {
  return {
    state,
    next() {
      this.state = (this.state + 0x6d2b79f5) | 0
      let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296
    },
  }
}

/** FNV-1a over UTF-16 units, mixed so that similar texts give distant states. */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b)
  return (h ^ (h >>> 16)) | 0
}
