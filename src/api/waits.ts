/** Loaded late, as one file, because few tests need it. */

export { advanceInLockstep } from './lockstep.js'
export { waitForRequest } from './wait-for-request.js'
