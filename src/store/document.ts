import { rmSync, writeFileSync } from 'node:fs'
import { constants, copyFile, link, open, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Adapter, Low } from 'lowdb'
import { TextFile } from 'lowdb/node'
import type { SpaceState } from '../domain/state.js'
import { PRIVATE_FILE } from '../system/regular-file.js'
import { Checksum } from './checksum.js'
import { documentPieces, fileStamp } from './document-format.js'
import { syncFolder } from './journal.js'
import { failedWith } from './store-error.js'

interface DocumentOptions {
  readonly fsync: boolean
  readonly warn: (message: string) => void
  readonly now: () => number
}

/**
 * The store's readable file. lowdb writes a new version beside it without syncing; the new version replaces the file
 * once it is durable.
 */
export class DocumentFile {
  readonly file: string
  readonly #next: string
  readonly #options: DocumentOptions
  #stamp: string | undefined

  constructor(file: string, stamp: string | undefined, options: DocumentOptions) {
    this.file = file
    this.#next = `${file}.next`
    this.#stamp = stamp
    this.#options = options
  }

  async prepare(state: SpaceState): Promise<Checksum> {
    const checksum = new Checksum()
    // lowdb passes the data to fs.writeFile, which accepts pieces.
    const file = new TextFile(this.#next) as Adapter<unknown>
    // steno does not set a mode, but an existing file keeps its own.
    rmSync(temporaryOf(this.#next), { force: true })
    writeFileSync(temporaryOf(this.#next), '', { mode: PRIVATE_FILE, flag: 'wx' })
    await new Low(file, checksum.of(documentPieces(state))).write()
    if (this.#options.fsync) {
      const handle = await open(this.#next, 'r+')
      await handle.sync().finally(() => handle.close())
    }
    return checksum
  }

  /** Replaces the document by the prepared one. Keeps a copy of a document that was edited while the sandbox was running. */
  async publish(): Promise<void> {
    await this.#keepEdited()
    const stamp = await this.#stampAt(this.#next)
    await rename(this.#next, this.file)
    this.#stamp = stamp
    if (this.#options.fsync) await syncFolder(this.file)
  }

  /** Removes prepared files, also of a crashed process. */
  discard(): void {
    rmSync(this.#next, { force: true })
    rmSync(temporaryOf(this.#next), { force: true })
  }

  /** Whether another program has changed, replaced or removed the document. */
  async isEdited(): Promise<boolean> {
    return (await this.#stampAt(this.file)) !== this.#stamp
  }

  async exists(): Promise<boolean> {
    return (await this.#stampAt(this.file)) !== undefined
  }

  async #keepEdited(): Promise<void> {
    const present = await this.#stampAt(this.file)
    if (present === this.#stamp) return
    if (present === undefined) {
      this.#options.warn(`"${this.file}" was removed while the sandbox was running. The sandbox writes it again.`)
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
        // A hard link takes no space, and includes what an editor is still writing.
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
      return fileStamp(await stat(file, { bigint: true }))
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return undefined
      throw error
    }
  }
}

function temporaryOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.tmp`)
}
