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

/** What a document needs from its owner. */
export interface DocumentOptions {
  readonly fsync: boolean
  readonly warn: (message: string) => void
  readonly now: () => number
}

/**
 * The store's readable file, replaced as a whole.
 *
 * A new one is first written beside it (by lowdb, which never syncs: its rename
 * may reach the disk before its content), and takes its place only when it is safe.
 */
export class DocumentFile {
  readonly file: string
  readonly #next: string
  readonly #options: DocumentOptions
  /** The stamp of the document as last read or written here; undefined if there was none. */
  #stamp: string | undefined

  constructor(file: string, stamp: string | undefined, options: DocumentOptions) {
    this.file = file
    this.#next = `${file}.next`
    this.#stamp = stamp
    this.#options = options
  }

  /** Writes a state beside the document; `publish` moves it into place. */
  async prepare(state: SpaceState): Promise<Checksum> {
    const checksum = new Checksum()
    // lowdb passes its data to fs.writeFile, which accepts pieces as well as a string.
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

  /** Replaces the document with what was prepared; one edited by hand in the meantime is kept beside it. */
  async publish(): Promise<void> {
    await this.#keepEdited()
    const stamp = await this.#stampAt(this.#next)
    await rename(this.#next, this.file)
    this.#stamp = stamp
    if (this.#options.fsync) await syncFolder(this.file)
  }

  /** Removes what was prepared, or left behind by a process that ended while preparing. */
  discard(): void {
    rmSync(this.#next, { force: true })
    rmSync(temporaryOf(this.#next), { force: true })
  }

  /** Whether the document was changed, replaced or removed by something else since it was last read or written here. */
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
      this.#options.warn(`"${this.file}" was removed while the sandbox was running; it will be written again.`)
      return
    }
    const kept = await this.#copyAside()
    this.#options.warn(
      `"${this.file}" was edited while the sandbox was running. The edit has no effect; it is kept in "${kept}". Edit the file while the sandbox is stopped.`,
    )
  }

  async #copyAside(): Promise<string> {
    const time = new Date(this.#options.now()).toISOString().replace(/[:.]/g, '-')
    for (let copy = 1; ; copy++) {
      const kept = `${this.file}.edited-${time}${copy === 1 ? '' : `-${copy}`}`
      try {
        // A hard link takes no space, and an editor that is still writing writes there.
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
