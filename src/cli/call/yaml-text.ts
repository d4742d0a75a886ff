import { hasControls } from '../escape-controls.js'

/** YAML; whole numbers digit for digit. A text that will be escaped stands in double quotes, where that means the same. */
export async function yamlText(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml')
  const document = new Document(value)
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && hasControls(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 }).trimEnd()
}
