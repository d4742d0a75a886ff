import { stringifyJson } from '../../contract/json.js'

/** Hands a file to the browser, to be kept. @param content JSON, or text as it is */
export function saveFile(name: string, content: unknown): void {
  const text = typeof content === 'string' ? content : stringifyJson(content, 2)
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
