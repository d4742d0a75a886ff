import { type ExchangeMessage, LOG_BODY_CHARACTERS } from './exchange-record.js'

/** In place of bytes that are no UTF-8. */
export const NO_CHARACTER = '\uFFFD'

const encoder = new TextEncoder()

export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/** Whether the log has only the beginning of the body. */
export function isCut({ headers, body }: ExchangeMessage): boolean {
  const sent = headers['content-length']
  const kept = byteLength(body)
  // Masks may have made it shorter.
  return sent === undefined
    ? kept >= LOG_BODY_CHARACTERS
    : body !== '' && Number(sent) > Math.max(LOG_BODY_CHARACTERS, kept)
}
