import { loadYaml } from '../../system/yaml.js'
import { hasControls } from '../escape-controls.js'

/** YAML; whole numbers digit for digit. A text that will be escaped stands in double quotes, where that means the same. */
export function yamlText(value: unknown): string {
  const { Document, visit } = loadYaml()
  const document = new Document(value)
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && hasControls(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 }).trimEnd()
}
