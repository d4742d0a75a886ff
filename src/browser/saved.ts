import { parseJson, stringifyJson } from '../contract/json.js'
import { OptionsError } from '../options/options-error.js'
import type { SavedSandbox } from '../sandbox-core.js'
import { messageOf } from '../system/message-of.js'
import { packageVersion } from '../system/package-files.js'

/** A saved sandbox, and those facts of its start that chance or the hour has chosen. */
export interface SavedPage extends SavedSandbox {
  readonly seed: number
  /** Where the clock of its start stands, in milliseconds since the epoch. */
  readonly now: number | undefined
}

/** Raised whenever what is written changes its shape. */
const FORMAT = 'petstore-sandbox 1'

/** Writes it as bytes, compressed: gzip has a checksum, so that what is damaged is found. */
export async function writeSaved(page: SavedPage): Promise<Uint8Array<ArrayBuffer>> {
  const text = stringifyJson({ format: FORMAT, version: packageVersion, ...page })
  return bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip')))
}

/** @throws OptionsError if it is nothing that this release has saved */
export async function readSaved(bytes: Uint8Array): Promise<SavedPage> {
  const { format, version, ...page } = await contentOf(bytes)
  if (format !== FORMAT) throw new OptionsError([`restore: ${NOT_SAVED}`])
  if (version !== packageVersion) {
    const problem = `was saved by release ${JSON.stringify(version)}; this is ${packageVersion}. Start anew without it`
    throw new OptionsError([`restore: ${problem}`])
  }
  // The checksum has said that it is as it was written, and the release that it was written here.
  return page as unknown as SavedPage
}

const NOT_SAVED = 'must be the bytes that save() gave; start anew without it'

async function contentOf(bytes: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  try {
    const whole = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new DecompressionStream('gzip'))
    return Object(parseJson(new TextDecoder().decode(await bytesOf(whole))))
  } catch (error) {
    throw new OptionsError([`restore: cannot be read (${messageOf(error)}); ${NOT_SAVED}`])
  }
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
