const encoder = new TextEncoder()
const decoder = new TextDecoder()
const strict = new TextDecoder('utf-8', { fatal: true })

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export function binaryOf(text: string): string {
  let binary = ''
  for (const byte of encoder.encode(text)) binary += String.fromCharCode(byte)
  return binary
}
