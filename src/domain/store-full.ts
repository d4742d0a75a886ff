import { formatSize } from './size.js'

/** There is no room for a change that needs more. Nothing of it was kept. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull'

  /**
   * @param what  is full, as the beginning of a sentence
   * @param limit in bytes
   */
  constructor(what: string, limit: number) {
    super(
      `${what} is full (--max-store ${formatSize(limit)}): what needs more room is answered 507. Remove pets, reset, or start with a larger --max-store.`,
    )
  }
}
