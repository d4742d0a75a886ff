const TICK_MS = 20
/** A tick this late shows that the machine did not run this process. */
const STALL_MS = 200
const MAX_ATTEMPTS = 5

/** Repeats what depends on real seconds if it fails while the machine stalls. */
export async function unlessStalled<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let longest = 0
    let last = performance.now()
    const ticking = setInterval(() => {
      const now = performance.now()
      longest = Math.max(longest, now - last - TICK_MS)
      last = now
    }, TICK_MS)
    try {
      return await run()
    } catch (error) {
      if (Math.max(longest, performance.now() - last - TICK_MS) < STALL_MS || attempt === MAX_ATTEMPTS) throw error
    } finally {
      clearInterval(ticking)
    }
  }
}
