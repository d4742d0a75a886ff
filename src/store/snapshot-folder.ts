import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson, stringifyJson } from '../contract/json.js'
import { readRegularFile } from '../regular-file.js'
import { crc32 } from './crc32.js'
import { asRecord } from './shape.js'
import { cannot, corrupt, Damage, failedWith } from './store-error.js'

const ENDING = '.json'

/**
 * Keeps snapshots as files of a folder. Each carries a checksum: what is read
 * back is what was saved, or it is refused.
 *
 * @throws StoreError STORE_CORRUPT, STORE_UNREADABLE, STORE_UNWRITABLE
 */
export class SnapshotFolder<Content> {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async names(): Promise<readonly string[]> {
    try {
      const files = await readdir(this.#folder)
      return files
        .filter((file) => file.endsWith(ENDING))
        .map((file) => file.slice(0, -ENDING.length))
        .sort()
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return []
      throw cannot('STORE_UNREADABLE', 'read', this.#folder, error)
    }
  }

  async put(name: string, content: Content): Promise<void> {
    const file = this.#file(name)
    const text = stringifyJson(content)
    try {
      await mkdir(this.#folder, { recursive: true })
      await writeFile(`${file}.next`, `{"crc":${crc32(text)},"snapshot":${text}}\n`)
      await rename(`${file}.next`, file)
    } catch (error) {
      await rm(`${file}.next`, { force: true }).catch(() => {})
      throw cannot('STORE_UNWRITABLE', 'write', file, error)
    }
  }

  async get(name: string): Promise<Content | undefined> {
    const file = this.#file(name)
    let text: string
    try {
      text = readRegularFile(file).toString()
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return undefined
      throw cannot('STORE_UNREADABLE', 'read', file, error)
    }
    try {
      const { crc, snapshot } = asRecord(parseJson(text), 'the snapshot')
      if (crc !== crc32(stringifyJson(snapshot))) throw new Damage('its checksum does not fit its content')
      // The checksum says that this is what was put here.
      return snapshot as Content
    } catch (error) {
      throw corrupt(file, error instanceof Error ? error : new Damage(String(error)))
    }
  }

  async remove(name: string): Promise<boolean> {
    try {
      await rm(this.#file(name))
      return true
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return false
      throw cannot('STORE_UNWRITABLE', 'remove', this.#file(name), error)
    }
  }

  #file(name: string): string {
    return join(this.#folder, name + ENDING)
  }
}
