/** Why the sandbox made up a response. @source docs/behaviour.md, "X-Sandbox-Reason" */
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
] as const
export type Reason = (typeof REASONS)[number]
