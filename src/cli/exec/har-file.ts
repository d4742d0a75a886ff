import { closeSync, constants, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '../../domain/failures.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import { exchangeView } from '../../exchanges/exchange-view.js'
import { harEntry, harHead } from '../../exchanges/har.js'
import { makeFolder } from '../../system/make-folder.js'
import { messageOf } from '../../system/message-of.js'
import { packageVersion } from '../../system/package-files.js'
import { openRegularFile } from '../../system/regular-file.js'

/** Characters that are written together. */
const PIECE = 64 * 1024

/**
 * An HTTP archive that is written as a run goes on: it has every exchange, however few the log keeps. An entry is a
 * line, in the order in which exchanges ended.
 */
export class HarFile {
  readonly #file: string
  readonly #fd: number
  #text: string
  #hasEntries = false
  #failure: unknown

  /** Makes the file, in place of an older one, and the folders that it needs. @throws Failure CANNOT_WRITE */
  constructor(file: string) {
    this.#file = file
    try {
      makeFolder(dirname(file))
      this.#fd = openRegularFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
    } catch (error) {
      throw cannotWrite(file, error)
    }
    const head = JSON.stringify(harHead(packageVersion))
    this.#text = `{"log":${head.slice(0, -1)},"entries":[`
  }

  add(record: ExchangeRecord): void {
    const entry = harEntry(exchangeView(record))
    if (entry === undefined) return
    this.#text += `${this.#hasEntries ? ',' : ''}\n${JSON.stringify(entry)}`
    this.#hasEntries = true
    if (this.#text.length >= PIECE) this.#write()
  }

  /** @throws Failure CANNOT_WRITE if some of it could not be written */
  close(): void {
    this.#text += '\n]}}\n'
    this.#write()
    closeSync(this.#fd)
    if (this.#failure !== undefined) throw cannotWrite(this.#file, this.#failure)
  }

  /** What cannot be written does not stop the run: it is told at its end. */
  #write(): void {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    try {
      let written = 0
      while (this.#failure === undefined && written < bytes.length) written += writeSync(this.#fd, bytes, written)
    } catch (error) {
      this.#failure = error
    }
  }
}

function cannotWrite(file: string, cause: unknown): Failure {
  return new Failure('CANNOT_WRITE', `The archive "${file}" could not be written (${messageOf(cause)}).`, { cause })
}
