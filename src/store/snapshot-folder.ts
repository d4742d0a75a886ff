import { fsyncSync, lstatSync, writeFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { Bytes } from '../domain/numbers.js'
import { DEFAULT_SETTINGS } from '../domain/settings.js'
import { SNAPSHOT_VERSION, type Snapshot } from '../domain/state.js'
import {
  assertOwnFolder,
  assertRegularFile,
  makeFolder,
  openReplacement,
  PRIVATE_FILE,
  type Replacement,
  readRegularFile,
  readStart,
  replaceFile,
  syncFolder,
} from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { keepForeign } from './document.js'
import type { Content, Layout } from './layout.js'
import { check, record } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'
import { readVersion1, VERSION_1 } from './version-1.js'

const ENDING = '.json'

/** Reserved by Windows, with any extension. @source Microsoft, Naming Files */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/

/**
 * Stores snapshots as files with a checksum. Modified files are refused.
 * @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE, STORE_UNWRITABLE
 */
export class SnapshotFolder {
  readonly #folder: string
  /** Stores of one folder share that of the snapshots. */
  readonly #store: string
  readonly #fsync: boolean
  readonly #layout: Layout

  /** @param store its file, which the folder of snapshots is beside */
  constructor(store: string, fsync: boolean, layout: Layout) {
    this.#folder = join(dirname(store), 'snapshots')
    this.#store = JSON.stringify(basename(store))
    this.#fsync = fsync
    this.#layout = layout
  }

  async names(): Promise<readonly string[]> {
    const own = (await this.#files()).filter((file) => this.#otherKind(join(this.#folder, file)) === undefined)
    return own.flatMap((file) => nameOf(file) ?? []).sort()
  }

  async put(name: string, snapshot: Snapshot): Promise<void> {
    const file = this.#pathOf(name)
    try {
      assertOwnFolder(this.#folder)
      makeFolder(this.#folder)
      this.#assertOwn(file)
      replaceFile(file, this.#textOf(snapshot, this.#store), PRIVATE_FILE, this.#fsync)
      if (this.#fsync) syncFolder(file)
    } catch (error) {
      throw cannot('STORE_UNWRITABLE', 'write', file, error)
    }
  }

  async get(name: string): Promise<Snapshot | undefined> {
    const file = await this.#find(name)
    return file === undefined ? undefined : readSnapshotFile(file, this.#layout)
  }

  async remove(name: string): Promise<boolean> {
    const file = await this.#find(name)
    if (file === undefined) return false
    await rm(file).catch((error: unknown) => {
      throw cannot('STORE_UNWRITABLE', 'remove', file, error)
    })
    return true
  }

  /** @param store whose it is; undefined if that is unknown */
  #textOf(snapshot: Snapshot, store?: string): string {
    const text = stringifyJson({ ...snapshot, state: this.#layout.write(snapshot.state) })
    return `{"crc":${crc32(text)},${store === undefined ? '' : `"store":${store},`}"snapshot":${text}}\n`
  }

  /** Of a file that is no snapshot of this store: the folder may be a project's, with a folder `snapshots` of its own. */
  #otherKind(file: string): string | undefined {
    let start: string
    try {
      start = readStart(file, MAX_START).toString()
    } catch {
      return undefined
    }
    if (!START.test(start)) return 'another file, and not a snapshot'
    const [, store = this.#store] = STORE.exec(start) ?? []
    return store === this.#store ? undefined : `a snapshot of the store ${store}`
  }

  /** @throws StoreError */
  #assertOwn(file: string): void {
    const kind = this.#otherKind(file)
    if (kind !== undefined) throw new StoreError('STORE_CORRUPT', `"${file}" is ${kind}. Choose another name.`)
  }

  /**
   * Writes snapshots of an earlier release in the present form. A damaged one stays as it is.
   * @returns what replaces the files, or leaves them as they are
   * @throws StoreError STORE_UNWRITABLE
   */
  async upgrade(): Promise<Pick<Replacement, 'commit' | 'discard'>> {
    const replaced: (readonly [file: string, replacement: Replacement])[] = []
    const discard = () => {
      for (const [, replacement] of replaced) replacement.discard()
    }
    for (const name of await this.#files()) {
      const file = join(this.#folder, name)
      const snapshot = nameOf(name) === undefined ? undefined : readEarlier(file, this.#layout)
      if (snapshot === undefined) continue
      try {
        const replacement = openReplacement(file)
        replaced.push([file, replacement])
        writeFileSync(replacement.fd, this.#textOf(snapshot))
        if (this.#fsync) fsyncSync(replacement.fd)
      } catch (error) {
        discard()
        throw cannot('STORE_UNWRITABLE', 'write', file, error)
      }
    }
    const commit = () => {
      for (const [file, replacement] of replaced) {
        keepForeign(file, VERSION_1)
        replacement.commit()
      }
    }
    return { commit, discard }
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

  /**
   * The file of a snapshot. Compares with the listing, because some file systems open `A.json` as `a.json`.
   * @returns undefined if there is none @throws StoreError if it is of another store
   */
  async #find(name: string): Promise<string | undefined> {
    if (!(await this.#files()).includes(fileOf(name))) return undefined
    const file = this.#pathOf(name)
    this.#assertOwn(file)
    return file
  }

  #pathOf(name: string): string {
    return join(this.#folder, fileOf(name))
  }
}

/** Of a snapshot, also one that was formatted since. */
const START = /^\s*\{\s*"crc"\s*:/
/** Snapshots of earlier builds do not name their store. */
const STORE = /^\s*\{\s*"crc"\s*:\s*\d+\s*,\s*"store"\s*:\s*("(?:[^"\\]|\\.)*")/
/** Has the longest name of a store. */
const MAX_START: Bytes = 2048

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

const START_1 = /^\{"crc":\d+,"snapshot":\{"version":1,/

/** Of version 1; undefined for a damaged file too, which a restore reports. */
function readEarlier(file: string, layout: Layout): Snapshot | undefined {
  try {
    return START_1.test(readStart(file, 64).toString()) ? readSnapshotFile(file, layout) : undefined
  } catch {
    return undefined
  }
}

function readSnapshotFile(file: string, layout: Layout): Snapshot {
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
    return asSnapshot(check(record, snapshot, 'the snapshot'), layout)
  } catch (error) {
    if (error instanceof StoreError) throw new StoreError(error.code, `"${file}": ${error.message}`, { cause: error })
    throw corrupt(file, error instanceof Error ? error : new CorruptionError(String(error)))
  }
}

/**
 * The checksum guarantees the shape that this version has. Its state is checked, because the contract may be another one.
 * @throws CorruptionError; StoreError STORE_VERSION
 */
function asSnapshot(content: Content, layout: Layout): Snapshot {
  const { version } = content
  if (version !== SNAPSHOT_VERSION && version !== 1)
    throw new StoreError(
      'STORE_VERSION',
      `the snapshot has version ${stringifyJson(version ?? null)}, this release reads version ${SNAPSHOT_VERSION}. Use the release that wrote it.`,
    )
  const { settings, ...others } = content as unknown as Snapshot
  const state = version === 1 ? readVersion1(content.state, layout) : layout.read(check(record, content.state, 'state'))
  // A setting newer than the snapshot gets its default.
  return { ...others, version: SNAPSHOT_VERSION, settings: { ...DEFAULT_SETTINGS, ...settings }, state }
}
