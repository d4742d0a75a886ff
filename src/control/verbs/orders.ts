import { verb } from '../verb.js'

export const list = verb({
  method: 'GET',
  path: '/orders',
  summary: 'The orders of a space, as listOrders gives them, without key or quota',
  run: ({ space }) => space.orders,
})
