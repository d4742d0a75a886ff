import type { PlanLimits, Plans } from './contract-data.js'
import type { Place } from './document.js'
import { PLAN_NAMES, type PlanName } from './plan-names.js'

const NO_PLANS: Plans = { free: {}, pro: {}, business: {}, enterprise: {} }

/** Reads `x-plans`. Plans that the document leaves out keep their previous limits. */
export function readPlans(root: Place, before: Plans = NO_PLANS): Plans {
  const place = root.child('x-plans')
  if (place === undefined) return before
  const unknown = Object.keys(place.object()).find((name) => !PLAN_NAMES.some((known) => known === name))
  if (unknown !== undefined)
    throw place.error(`has the unknown plan "${unknown}". The plans are ${PLAN_NAMES.join(', ')}`)
  const plan = (name: PlanName): PlanLimits => {
    const limits = place.child(name)
    return limits === undefined ? before[name] : readLimits(limits)
  }
  return { free: plan('free'), pro: plan('pro'), business: plan('business'), enterprise: plan('enterprise') }
}

function readLimits(place: Place): PlanLimits {
  const perMinute = readLimit(place, 'requestsPerMinute')
  const perDay = readLimit(place, 'requestsPerDay')
  return { ...(perMinute === undefined ? {} : { perMinute }), ...(perDay === undefined ? {} : { perDay }) }
}

function readLimit(plan: Place, name: string): number | undefined {
  const place = plan.child(name)
  if (place === undefined) throw plan.error(`must have "${name}"`)
  if (place.value === 'custom') return undefined
  if (typeof place.value === 'number' && Number.isSafeInteger(place.value) && place.value >= 1) return place.value
  throw place.error('must be a whole number of at least 1, or "custom"')
}
