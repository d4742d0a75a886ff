/** Why the sandbox made up a response; `upstream` also of those that it has from a real service. @source docs/behaviour.md, "X-Sandbox-Reason" */
export const REASONS = [
  'quota-minute',
  'quota-day',
  'ban',
  'storm',
  'forced',
  'fault',
  'sunset',
  'brownout',
  'unavailable',
  'upstream',
] as const
export type Reason = (typeof REASONS)[number]
