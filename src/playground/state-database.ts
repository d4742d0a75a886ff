import { type IDBPDatabase, openDB } from 'idb'

const STORE = 'sandbox'
const STATE = 'state'
const OWNER = 'owner'

/**
 * The browser's database of one playground: the state of its sandbox, and which worker owns it. While a new version
 * takes over, the old worker may still handle requests: it then finds that it no longer owns the state.
 */
export class StateDatabase {
  readonly #database: IDBPDatabase
  readonly #owner: string

  private constructor(database: IDBPDatabase, owner: string) {
    this.#database = database
    this.#owner = owner
  }

  /** @param name unique among the playgrounds of the origin @throws DOMException if the browser refuses storage */
  static async takeOver(name: string): Promise<{ readonly database: StateDatabase; readonly state: unknown }> {
    const opened = await openDB(name, 1, {
      upgrade: (database) => void database.createObjectStore(STORE),
      // Deleting or upgrading the database does not wait for this worker to end.
      blocking: () => opened.close(),
    })
    const owner = crypto.randomUUID()
    const { store, done } = opened.transaction(STORE, 'readwrite')
    const [state] = await Promise.all([store.get(STATE), store.put(owner, OWNER), done])
    return { database: new StateDatabase(opened, owner), state }
  }

  /** @returns false, without writing, if another worker owns it @throws DOMException, such as QuotaExceededError */
  async write(state: unknown): Promise<boolean> {
    const { store, done } = this.#database.transaction(STORE, 'readwrite')
    const isOurs = (await store.get(OWNER)) === this.#owner
    await Promise.all([isOurs && store.put(state, STATE), done])
    return isOurs
  }
}
