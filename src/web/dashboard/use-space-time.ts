import { useEffect, useState } from 'preact/hooks'
import { readLocalClock } from './local-clock.js'
import { useDashboard } from './session-context.js'

const TICK_MS = 500

/** The time on the space's clock, kept running by the page; undefined before it is known. */
export function useSpaceTime(): number | undefined {
  const clock = useDashboard(({ clock }) => clock)
  const [, tick] = useState(0)
  useEffect(() => {
    if (clock === undefined || clock.frozen) return
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS)
    return () => clearInterval(timer)
  }, [clock])
  return clock === undefined ? undefined : readLocalClock(clock, performance.now())
}
