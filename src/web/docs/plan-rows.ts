import { isMap } from './json-map.js'

/** A plan as its row in the table: name, requests a minute, requests a day. */
export type PlanRow = readonly [name: string, perMinute: string, perDay: string]

/** Reads the rows of the table of plans from `x-plans`; none where a contract has no plans. */
export function planRows(plans: unknown): readonly PlanRow[] {
  if (!isMap(plans)) return []
  return Object.entries(plans).flatMap(([name, plan]) =>
    isMap(plan)
      ? [[capitalise(name), writeLimit(plan.requestsPerMinute), writeLimit(plan.requestsPerDay)] as const]
      : [],
  )
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function writeLimit(limit: unknown): string {
  return typeof limit === 'number' ? limit.toLocaleString('en') : String(limit ?? '')
}
