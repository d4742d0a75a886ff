/** What a page, or a newer worker, may ask of the service worker that runs the sandbox. */
export type WorkerRequest =
  /** Where the sandbox's state is kept; answered with a `Keeping` on the port sent along. */
  | 'keeping'
  /** Control pages that were loaded without it, as by a forced reload. */
  | 'claim'
  /** A new version: take over from the old one, without waiting for its pages to go. */
  | 'take-over'
  /** From a newer version: end what would keep it waiting, such as streams. */
  | 'step-aside'

/** Where the sandbox's state is. */
export interface Keeping {
  /** In this browser's database, or only in the worker, which the browser ends when it idles. */
  readonly place: 'browser' | 'memory'
  /** What somebody should know of it, undefined if all is well. */
  readonly notice: string | undefined
}
