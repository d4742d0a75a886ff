/** A text, and its UTF-8 bytes. */
export interface EncodedText {
  readonly text: string
  /**
   * The bytes as a string of one character each: in this form Node joins a body
   * with its headers and sends both fastest, and its length is the Content-Length.
   */
  readonly binary: string
}

export function encodeText(text: string): EncodedText {
  return { text, binary: Buffer.from(text).toString('latin1') }
}
