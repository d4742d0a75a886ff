import type { Parameter, ValueForm } from './contract-data.js'
import { isNode } from './json.js'
import type { QueryPair } from './query.js'
import { pairOf, simple, typed } from './typed-text.js'

// The packaged contract has none of these.

/** Of the styles `matrix` and `label`. */
export function labelValue(parameter: Parameter, text: string): unknown {
  const { name, form, explode, style } = parameter
  const [isList, isObject] = [form.types.includes('array'), form.types.includes('object')]
  const bare = style === 'label' ? text.replace(/^\./, '') : text.replace(/^;/, '')
  const pairs = bare.split(style === 'label' ? '.' : ';').map(pairOf)
  if (isObject && explode) return typed(Object.fromEntries(pairs), form)
  if (style === 'label')
    return isList ? typed(bare.split(bare.includes(',') ? ',' : '.'), form) : simple(bare, parameter)
  const values = pairs.map(([own, value]) => (own === name ? value : own))
  return isList && explode ? typed(values, form) : simple(values.join(';'), parameter)
}

/** `price[gt]=1&price[lt]=9`, `tags[]=a&tags[]=b`. */
export function deepValue(name: string, pairs: readonly QueryPair[], form: ValueForm): unknown {
  // Without a prototype: `price[__proto__][gt]` would change it.
  const root: Record<string, unknown> = Object.create(null)
  const sizes = new Map<object, number>()
  for (const [own, text] of pairs) {
    const steps = [...own.slice(name.length).matchAll(/\[([^\]]*)\]/g)].map(([, step = '']) => step)
    let place = root
    for (const [index, step] of steps.entries()) {
      const size = sizes.get(place) ?? 0
      const key = step === '' ? String(size) : step
      if (!(key in place)) sizes.set(place, size + 1)
      if (index === steps.length - 1) {
        place[key] = text
        break
      }
      if (!isNode(place[key])) place[key] = Object.create(null)
      place = place[key] as Record<string, unknown>
    }
  }
  return typed(root, form)
}
