import type { Zone } from './clock-text.js'

const ZONE_KEPT_AS = 'petstore-sandbox:zone'

/** The zone that was chosen last in this browser. */
export function keptZone(): Zone {
  return localStorage.getItem(ZONE_KEPT_AS) === 'local' ? 'local' : 'UTC'
}

export function keepZone(zone: Zone): void {
  localStorage.setItem(ZONE_KEPT_AS, zone)
}
