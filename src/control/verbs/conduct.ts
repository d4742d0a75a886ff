import { conductReport } from '../../conduct/conduct-report.js'
import { verb } from '../verb.js'

export const conduct = verb({
  method: 'GET',
  path: '/conduct',
  summary:
    "How well the clients of a space kept the service's rules, and what each plan would have done with their traffic",
  run: ({ space }) => conductReport(space),
})
