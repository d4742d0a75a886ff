import { type IDBPDatabase, openDB } from 'idb'

const STORE = 'sandbox'
const STATE = 'state'
const OWNER = 'owner'

/**
 * The browser's database of one playground: the state of its sandbox, and which worker it belongs to. While a new
 * version takes over, the worker of the old one may still be answering: it finds that the state is no longer its own.
 */
export class StateDatabase {
  readonly #database: IDBPDatabase
  readonly #owner: string

  private constructor(database: IDBPDatabase, owner: string) {
    this.#database = database
    this.#owner = owner
  }

  /**
   * Opens it, and takes the state over.
   *
   * @param name one for each playground of the origin
   * @returns the state as last written, undefined if there is none
   * @throws DOMException where the browser refuses to keep anything
   */
  static async takeOver(name: string): Promise<{ readonly database: StateDatabase; readonly state: unknown }> {
    const opened = await openDB(name, 1, {
      upgrade: (database) => void database.createObjectStore(STORE),
      // Whoever wants to delete it or make it a newer one does not wait for this worker to end.
      blocking: () => opened.close(),
    })
    const owner = crypto.randomUUID()
    const { store, done } = opened.transaction(STORE, 'readwrite')
    const [state] = await Promise.all([store.get(STATE), store.put(owner, OWNER), done])
    return { database: new StateDatabase(opened, owner), state }
  }

  /**
   * Writes the state; resolves when it is there to stay.
   *
   * @returns false if another worker has taken it over; nothing is written then
   * @throws DOMException, QuotaExceededError among them
   */
  async write(state: unknown): Promise<boolean> {
    const { store, done } = this.#database.transaction(STORE, 'readwrite')
    const isOurs = (await store.get(OWNER)) === this.#owner
    await Promise.all([isOurs && store.put(state, STATE), done])
    return isOurs
  }
}
