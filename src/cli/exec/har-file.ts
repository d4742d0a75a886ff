import { writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { KeyHeader } from '../../contract/contract-data.js'
import { Failure } from '../../domain/failures.js'
import { type ExchangeRecord, exchangeView } from '../../exchanges/exchange-record.js'
import { harEntry, harHead } from '../../exchanges/har.js'
import { messageOf } from '../../system/message-of.js'
import { packageVersion } from '../../system/package-files.js'
import { makeFolder, openReplacement, type Replacement } from '../../system/regular-file.js'

const CHUNK = 64 * 1024

/** Written during the run, and put in place at its end. Exchanges are in the order of their ends. */
export class HarFile {
  readonly #file: string
  readonly #keyHeaders: readonly KeyHeader[]
  readonly #output: Replacement
  #text: string
  #hasEntries = false
  #failure: unknown

  constructor(file: string, keyHeaders: readonly KeyHeader[]) {
    this.#file = file
    this.#keyHeaders = keyHeaders
    try {
      makeFolder(dirname(file))
      this.#output = openReplacement(file)
    } catch (error) {
      throw cannotWrite(file, error)
    }
    const head = JSON.stringify(harHead(packageVersion))
    this.#text = `{"log":${head.slice(0, -1)},"entries":[`
  }

  add(record: ExchangeRecord): void {
    const entry = harEntry(exchangeView(record), this.#keyHeaders)
    if (entry === undefined) return
    this.#text += `${this.#hasEntries ? ',' : ''}\n${JSON.stringify(entry)}`
    this.#hasEntries = true
    if (this.#text.length >= CHUNK) this.#write()
  }

  /** Removes the draft. */
  discard(): void {
    this.#output.discard()
  }

  close(): void {
    this.#text += '\n]}}\n'
    this.#write()
    try {
      if (this.#failure !== undefined) throw this.#failure
      this.#output.commit()
    } catch (error) {
      throw cannotWrite(this.#file, error)
    } finally {
      this.#output.discard()
    }
  }

  /** A failure does not stop the run; `close` reports it. */
  #write(): void {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    try {
      let written = 0
      while (this.#failure === undefined && written < bytes.length)
        written += writeSync(this.#output.fd, bytes, written)
    } catch (error) {
      this.#failure = error
    }
  }
}

function cannotWrite(file: string, cause: unknown): Failure {
  return new Failure('CANNOT_WRITE', `The archive "${file}" could not be written (${messageOf(cause)}).`, { cause })
}
