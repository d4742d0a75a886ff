import { lstatSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { Pet } from '../domain/pets.js'
import { DEFAULT_SETTINGS } from '../domain/settings.js'
import { SNAPSHOT_VERSION, type Snapshot } from '../domain/state.js'
import {
  assertOwnFolder,
  assertRegularFile,
  makeFolder,
  PRIVATE_FILE,
  readRegularFile,
  replaceFile,
  syncFolder,
} from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { asState } from './recovery.js'
import { check, type Reader, record } from './shape.js'
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
  readonly #fsync: boolean
  readonly #readPet: Reader<Pet> | undefined

  constructor(folder: string, fsync: boolean, readPet?: Reader<Pet>) {
    this.#folder = folder
    this.#fsync = fsync
    this.#readPet = readPet
  }

  async names(): Promise<readonly string[]> {
    return (await this.#files()).flatMap((file) => nameOf(file) ?? []).sort()
  }

  async put(name: string, snapshot: Snapshot): Promise<void> {
    const file = this.#pathOf(name)
    const text = stringifyJson(snapshot)
    try {
      assertOwnFolder(this.#folder)
      makeFolder(this.#folder)
      replaceFile(file, `{"crc":${crc32(text)},"snapshot":${text}}\n`, PRIVATE_FILE, this.#fsync)
      if (this.#fsync) syncFolder(file)
    } catch (error) {
      throw cannot('STORE_UNWRITABLE', 'write', file, error)
    }
  }

  async get(name: string): Promise<Snapshot | undefined> {
    return (await this.#has(name)) ? readSnapshotFile(this.#pathOf(name), this.#readPet) : undefined
  }

  async remove(name: string): Promise<boolean> {
    if (!(await this.#has(name))) return false
    const file = this.#pathOf(name)
    await rm(file).catch((error: unknown) => {
      throw cannot('STORE_UNWRITABLE', 'remove', file, error)
    })
    return true
  }

  async #files(): Promise<readonly string[]> {
    try {
      assertOwnFolder(this.#folder)
      return await readdir(this.#folder)
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return []
      throw cannot('STORE_UNREADABLE', 'read', this.#folder, error)
    }
  }

  /** Compares with the listing, because some file systems open `A.json` as `a.json`. */
  async #has(name: string): Promise<boolean> {
    return (await this.#files()).includes(fileOf(name))
  }

  #pathOf(name: string): string {
    return join(this.#folder, fileOf(name))
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
    // It may have come with a cloned folder.
    assertRegularFile(lstatSync(file))
    text = readRegularFile(file).toString()
  } catch (error) {
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  }
  try {
    const { crc, snapshot } = check(record, parseJson(text), 'it')
    if (crc !== crc32(stringifyJson(snapshot))) throw new CorruptionError('its checksum does not match its content')
    return asSnapshot(check(record, snapshot, 'the snapshot'), readPet)
  } catch (error) {
    if (error instanceof StoreError) throw new StoreError(error.code, `"${file}": ${error.message}`, { cause: error })
    throw corrupt(file, error instanceof Error ? error : new CorruptionError(String(error)))
  }
}

/**
 * The checksum guarantees the shape that this version has. Its state is checked, because the contract may be another one.
 * @throws CorruptionError; StoreError STORE_VERSION
 */
function asSnapshot(snapshot: Readonly<Record<string, unknown>>, readPet: Reader<Pet> | undefined): Snapshot {
  if (snapshot.version !== SNAPSHOT_VERSION)
    throw new StoreError(
      'STORE_VERSION',
      `the snapshot has version ${stringifyJson(snapshot.version ?? null)}, this release reads version ${SNAPSHOT_VERSION}. Use the release that wrote it.`,
    )
  const { settings, state, ...others } = snapshot as unknown as Snapshot
  // A setting newer than the snapshot gets its default.
  return { ...others, settings: { ...DEFAULT_SETTINGS, ...settings }, state: asState(state, readPet) }
}
