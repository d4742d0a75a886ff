import { useLayoutEffect, useState } from 'preact/hooks'

/** How large an element is, as it changes. */
export function useBox(element: { readonly current: HTMLElement | null }): {
  readonly width: number
  readonly height: number
} {
  const [box, setBox] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = () => setBox({ width: current.clientWidth, height: current.clientHeight })
    const sizes = new ResizeObserver(measure)
    sizes.observe(current)
    measure()
    return () => sizes.disconnect()
  }, [element])
  return box
}
