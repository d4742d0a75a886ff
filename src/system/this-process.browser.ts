/** Pages have none. */
export const processId: number = 0

/** Browsers do not count them. */
export function allowListeners(_signal: AbortSignal): void {}
