/** Requests of a page or a newer worker to the service worker that runs the sandbox. */
export type WorkerRequest =
  /** Where is the state kept? Answered with a `Keeping`. */
  | 'keeping'
  /** Control pages that were loaded without it, for example by a forced reload. */
  | 'claim'
  /** Take over from the old version without waiting for its pages to close. */
  | 'take-over'
  /** From a newer version: end everything that it would wait for, such as streams. */
  | 'step-aside'

export interface Keeping {
  /** In this browser's database, or only in the worker, which the browser ends when it idles. */
  readonly place: 'browser' | 'memory'
  /** A warning for people, undefined if all is well. */
  readonly notice: string | undefined
}
