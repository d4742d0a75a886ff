import { parseJson, stringifyJson } from '../contract/json.js'
import { OptionsError } from '../options/options.js'
import type { SavedSandbox } from '../start/compose.js'
import { messageOf } from '../system/message-of.js'
import { packageVersion } from '../system/package-files.js'

export interface SavedPage extends SavedSandbox {
  readonly seed: number
  /** Start of a frozen clock, in milliseconds since the epoch. */
  readonly now: number | undefined
}

/** Raise it whenever the shape changes. */
const FORMAT = 'petstore-sandbox 2'

/** Compressed; the checksum of gzip detects damage. */
export async function writeSaved(page: SavedPage): Promise<Uint8Array<ArrayBuffer>> {
  const text = stringifyJson({ format: FORMAT, version: packageVersion, ...page })
  return bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip')))
}

/** @throws OptionsError if the bytes were not saved by this release */
export async function readSaved(bytes: Uint8Array): Promise<SavedPage> {
  const { format, version, ...page } = await contentOf(bytes)
  if (format !== FORMAT) throw new OptionsError([`restore: ${NOT_SAVED}`])
  if (version !== packageVersion) {
    const problem = `was saved by release ${JSON.stringify(version)}; this is ${packageVersion}. Remove it to start over`
    throw new OptionsError([`restore: ${problem}`])
  }
  // Checksum and release guarantee the shape.
  return page as unknown as SavedPage
}

const NOT_SAVED = 'must be the bytes returned by save(); remove it to start over'

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
