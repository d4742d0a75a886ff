/** Why the sandbox made an answer up. @source interface, X-Sandbox-Reason */
export const REASONS = ['quota-minute', 'quota-day', 'ban', 'storm', 'forced', 'fault', 'sunset', 'brownout'] as const
export type Reason = (typeof REASONS)[number]
