import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, readSync } from 'node:fs'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { Pet } from '../domain/pets.js'
import { openRegularFile } from '../system/regular-file.js'
import { Checksum, DOCUMENT_VERSION } from './document-text.js'
import { PetLines } from './pet-lines.js'
import { Recovery } from './recovery.js'
import { asRecord, type Reader } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

/** A document as it was found. */
export interface FoundDocument {
  readonly recovery: Recovery
  readonly checksum: Checksum
  readonly stamp: string
}

/**
 * Reads and checks a document.
 *
 * A document in our own layout is read line by line: a million pets
 * are never in memory as one string, and an id beyond 2^53 slows down only its own
 * line. Any other is read as a whole. Reading is synchronous, which is cheapest for a
 * small document.
 *
 * @param readPet what takes a value for a pet; of the packaged contract, unless another is served
 * @returns undefined if there is none
 * @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE
 */
export async function readDocument(file: string, readPet?: Reader<Pet>): Promise<FoundDocument | undefined> {
  let fd: number | undefined
  try {
    fd = openRegularFile(file, constants.O_RDONLY)
    const stamp = stampOf(fstatSync(fd, { bigint: true }))
    const checksum = new Checksum()
    const recovery =
      (await readByLine(fd, checksum, file, new Recovery(readPet))) ?? readAsWhole(fd, file, new Recovery(readPet))
    return { recovery, checksum, stamp }
  } catch (error) {
    if (fd === undefined && failedWith(error, 'ENOENT')) return undefined
    if (error instanceof CorruptionError || error instanceof SyntaxError) throw corrupt(file, error)
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Changes whenever a file is written or replaced. */
export function stampOf(stats: { readonly ino: bigint; readonly size: bigint; readonly mtimeNs: bigint }): string {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}`
}

const BLOCK_BYTES = 1024 * 1024

/** @returns undefined if the document has another layout, or a mistake that is better reported for the whole */
async function readByLine(
  fd: number,
  checksum: Checksum,
  file: string,
  recovery: Recovery,
): Promise<Recovery | undefined> {
  const lines = new PetLines(recovery)
  let fits = true
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of blocksOf(fd)) {
    checksum.add(chunk)
    const block = Buffer.concat([rest, chunk])
    const end = block.lastIndexOf('\n') + 1
    rest = block.subarray(end)
    fits &&= isUtf8(block.subarray(0, end)) && lines.read(block.toString('utf8', 0, end))
  }
  if (!fits || rest.length > 0) return undefined
  const others = lines.others()
  if (others === undefined) return undefined
  addOthers(recovery, others, file)
  return recovery
}

/** A file in blocks, each valid until the next is read. Other work runs in between, such as signal handlers. */
async function* blocksOf(fd: number): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES)
  for (let at = 0; ; ) {
    const length = readSync(fd, block, 0, block.length, at)
    if (length === 0) return
    yield block.subarray(0, length)
    at += length
    if (length === BLOCK_BYTES) await new Promise((resolve) => setImmediate(resolve))
  }
}

function readAsWhole(fd: number, file: string, recovery: Recovery): Recovery {
  const { size } = fstatSync(fd)
  const bytes = Buffer.alloc(size)
  const bytesRead = readSync(fd, bytes, 0, size, 0)
  if (bytesRead === 0) throw new CorruptionError('it is empty')
  if (!isUtf8(bytes)) throw new CorruptionError('it is not UTF-8')
  addOthers(recovery, parseJson(withoutMark(bytes.toString('utf8', 0, bytesRead))), file)
  return recovery
}

/** Some editors write a byte order mark, which is not JSON. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function addOthers(recovery: Recovery, document: unknown, file: string): void {
  const { version, ...state } = asRecord(document, 'the document')
  if (version === undefined) throw new CorruptionError('version is missing')
  if (version !== DOCUMENT_VERSION) {
    throw new StoreError(
      'STORE_VERSION',
      `"${file}" has version ${stringifyJson(version)}, this release reads ${DOCUMENT_VERSION}. Use the release that wrote it, or choose another file with --store.`,
    )
  }
  recovery.addState(state)
}
