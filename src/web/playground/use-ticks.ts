import { useEffect, useState } from 'preact/hooks'

const TICK_MS = 250

/** Renders again and again while something counts. */
export function useTicks(isTicking: boolean): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!isTicking) return
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS)
    return () => clearInterval(timer)
  }, [isTicking])
}
