import type { Handler } from '../request-context.js'

/** The contract declares no shape for orders, so they are sent as the fixtures have them. @source docs/specification.md, "Store endpoints" */
export const listOrders: Handler = ({ space }) => ({ status: 200, body: space.ordersText })
