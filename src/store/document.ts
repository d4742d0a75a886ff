import { rmSync, writeFileSync } from 'node:fs'
import { constants, copyFile, link, open, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Adapter, Low } from 'lowdb'
import { TextFile } from 'lowdb/node'
import type { SpaceState } from '../domain/state.js'
import { PRIVATE_FILE } from '../system/regular-file.js'
import { stampOf } from './document-reader.js'
import { Checksum, documentPieces } from './document-text.js'
import { failedWith } from './store-error.js'
import { syncFolder } from './sync-folder.js'

/** What a document needs of its surroundings. */
export interface DocumentOptions {
  readonly fsync: boolean
  readonly warn: (message: string) => void
  readonly now: () => number
}

/**
 * The store's readable file, replaced as a whole.
 *
 * A new one is written beside it first (by lowdb, which never syncs: its rename
 * may reach the disk before its content), and takes its place only when it is safe.
 */
export class DocumentFile {
  readonly file: string
  readonly #next: string
  readonly #options: DocumentOptions
  /** The document as it was last read or written here; undefined if there was none. */
  #stamp: string | undefined

  constructor(file: string, stamp: string | undefined, options: DocumentOptions) {
    this.file = file
    this.#next = `${file}.next`
    this.#stamp = stamp
    this.#options = options
  }

  /** Writes a state beside the document, to be put in its place by `publish`. */
  async prepare(state: SpaceState): Promise<Checksum> {
    const checksum = new Checksum()
    // lowdb hands what it is given to fs.writeFile, which takes pieces as well as a text.
    const file = new TextFile(this.#next) as Adapter<unknown>
    // steno chooses no mode; what is there already keeps its own.
    rmSync(temporaryOf(this.#next), { force: true })
    writeFileSync(temporaryOf(this.#next), '', { mode: PRIVATE_FILE, flag: 'wx' })
    await new Low(file, checksum.of(documentPieces(state))).write()
    if (this.#options.fsync) {
      const handle = await open(this.#next, 'r+')
      await handle.sync().finally(() => handle.close())
    }
    return checksum
  }

  /** Puts what was prepared in the place of the document; one that was edited by hand meanwhile is kept beside. */
  async publish(): Promise<void> {
    await this.#keepEdited()
    const stamp = await this.#stampAt(this.#next)
    await rename(this.#next, this.file)
    this.#stamp = stamp
    if (this.#options.fsync) await syncFolder(this.file)
  }

  /** Removes what was prepared, or left over by a process that ended while it prepared. */
  discard(): void {
    rmSync(this.#next, { force: true })
    rmSync(temporaryOf(this.#next), { force: true })
  }

  /** Whether somebody else wrote, replaced or removed the document since it was last read or written here. */
  async isEdited(): Promise<boolean> {
    return (await this.#stampAt(this.file)) !== this.#stamp
  }

  async isThere(): Promise<boolean> {
    return (await this.#stampAt(this.file)) !== undefined
  }

  async #keepEdited(): Promise<void> {
    const present = await this.#stampAt(this.file)
    if (present === this.#stamp) return
    if (present === undefined) {
      this.#options.warn(`"${this.file}" was removed while the sandbox was running; it is written anew.`)
      return
    }
    const kept = await this.#copyAside()
    this.#options.warn(
      `"${this.file}" was edited while the sandbox was running. The edit does not count; it is kept in "${kept}". Edit the file while the sandbox is stopped.`,
    )
  }

  async #copyAside(): Promise<string> {
    const time = new Date(this.#options.now()).toISOString().replace(/[:.]/g, '-')
    for (let copy = 1; ; copy++) {
      const kept = `${this.file}.edited-${time}${copy === 1 ? '' : `-${copy}`}`
      try {
        // A second name for it takes no room, and an editor that is still writing writes there.
        await link(this.file, kept).catch(async (error: unknown) => {
          if (failedWith(error, 'EEXIST')) throw error
          if (!(await stat(this.file)).isFile()) throw error
          return copyFile(this.file, kept, constants.COPYFILE_EXCL)
        })
        return kept
      } catch (error) {
        if (!failedWith(error, 'EEXIST')) throw error
      }
    }
  }

  async #stampAt(file: string): Promise<string | undefined> {
    try {
      return stampOf(await stat(file, { bigint: true }))
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return undefined
      throw error
    }
  }
}

/** Where lowdb's writer (steno) puts a file before it renames it. */
function temporaryOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.tmp`)
}
