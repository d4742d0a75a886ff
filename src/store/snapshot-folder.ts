import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { Pet } from '../domain/pets.js'
import type { Snapshot } from '../domain/state.js'
import { makeFolder } from '../system/make-folder.js'
import { makePrivate, PRIVATE_FILE, readRegularFile } from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { check, type Reader, record } from './shape.js'
import { asSnapshot } from './snapshot-shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

const ENDING = '.json'

/** Reserved by Windows, with any extension. @source Microsoft, Naming Files */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/

/**
 * Stores snapshots as files with a checksum. Modified files are refused.
 * @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE, STORE_UNWRITABLE
 */
export class SnapshotFolder {
  readonly #folder: string
  readonly #readPet: Reader<Pet> | undefined

  constructor(folder: string, readPet?: Reader<Pet>) {
    this.#folder = folder
    this.#readPet = readPet
  }

  async names(): Promise<readonly string[]> {
    return [...new Set((await this.#files()).flatMap((file) => nameOf(file) ?? []))].sort()
  }

  async put(name: string, snapshot: Snapshot): Promise<void> {
    const file = join(this.#folder, fileOf(name))
    const text = stringifyJson(snapshot)
    try {
      makeFolder(this.#folder)
      await this.#renameOldFiles()
      await rm(`${file}.next`, { force: true })
      await writeFile(`${file}.next`, `{"crc":${crc32(text)},"snapshot":${text}}\n`, { flag: 'wx', mode: PRIVATE_FILE })
      await rename(`${file}.next`, file)
    } catch (error) {
      await rm(`${file}.next`, { force: true }).catch(() => {})
      throw cannot('STORE_UNWRITABLE', 'write', file, error)
    }
  }

  async get(name: string): Promise<Snapshot | undefined> {
    const [found] = await this.#filesOf(name)
    return found === undefined ? undefined : readSnapshotFile(join(this.#folder, found), this.#readPet)
  }

  async remove(name: string): Promise<boolean> {
    const found = await this.#filesOf(name)
    for (const file of found) {
      await rm(join(this.#folder, file)).catch((error: unknown) => {
        throw cannot('STORE_UNWRITABLE', 'remove', join(this.#folder, file), error)
      })
    }
    return found.length > 0
  }

  async #files(): Promise<readonly string[]> {
    makePrivate(this.#folder)
    try {
      return await readdir(this.#folder)
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return []
      throw cannot('STORE_UNREADABLE', 'read', this.#folder, error)
    }
  }

  /** Compares with the listing, because some file systems open `A.json` as `a.json`. */
  async #filesOf(name: string): Promise<readonly string[]> {
    const files = await this.#files()
    return [...new Set([fileOf(name), name + ENDING])].filter((file) => files.includes(file))
  }

  /** The first release did not escape names: on some file systems, `A.json` conflicts with `a.json`. */
  async #renameOldFiles(): Promise<void> {
    const files = await this.#files()
    for (const file of files) {
      const name = nameOf(file)
      if (name === undefined || files.includes(fileOf(name))) continue
      await rename(join(this.#folder, file), join(this.#folder, fileOf(name)))
    }
  }
}

/** Distinct on every file system: capitals and reserved names are percent-encoded. */
function fileOf(name: string): string {
  return name.replace(/[A-Z]/g, escaped).replace(RESERVED, (word) => escaped(word.charAt(0)) + word.slice(1)) + ENDING
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`
}

function nameOf(file: string): string | undefined {
  if (!file.endsWith(ENDING)) return undefined
  try {
    return decodeURIComponent(file.slice(0, -ENDING.length))
  } catch {
    return undefined
  }
}

function readSnapshotFile(file: string, readPet: Reader<Pet> | undefined): Snapshot {
  let text: string
  try {
    text = readRegularFile(file).toString()
  } catch (error) {
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  }
  try {
    const { crc, snapshot } = check(record, parseJson(text), 'it')
    if (crc !== crc32(stringifyJson(snapshot))) throw new CorruptionError('its checksum does not match its content')
    return asSnapshot(snapshot, readPet)
  } catch (error) {
    if (error instanceof StoreError) throw new StoreError(error.code, `"${file}": ${error.message}`, { cause: error })
    throw corrupt(file, error instanceof Error ? error : new CorruptionError(String(error)))
  }
}
