import { useEffect, useState } from 'preact/hooks'
import { stringifyJson } from '../../contract/json.js'
import { callVerb } from './api.js'
import { Section } from './section.js'
import { useDashboard } from './session-context.js'

/** More are left to the service. */
const MOST_SHOWN = 100

/** The orders as they are: no shape of them is documented, so none is made up. They come from the fixtures, and stay. */
export function OrdersSection() {
  const space = useDashboard(({ space }) => space)
  const count = useDashboard(({ state }) => state?.counts.orders ?? 0)
  const [orders, setOrders] = useState<readonly unknown[]>([])
  useEffect(() => {
    let isShown = true
    callVerb('orders.list', space).then(
      (read) => isShown && setOrders(read),
      () => {},
    )
    return () => {
      isShown = false
    }
  }, [space, count])
  return (
    <Section id="orders" title="Orders" aside={count}>
      {count === 0 ? (
        <p class="muted">There are none.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it
        <pre tabIndex={0}>
          {orders
            .slice(0, MOST_SHOWN)
            .map((order) => stringifyJson(order))
            .join('\n')}
        </pre>
      )}
      {count > MOST_SHOWN ? <p class="muted">The first {MOST_SHOWN} of them.</p> : null}
    </Section>
  )
}
