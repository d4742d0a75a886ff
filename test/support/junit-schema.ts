/** The stricter rules of Ant's schema (JUnit.xsd) and Jenkins' (xUnit plugin, junit-10.xsd). */
interface Rule {
  /** Attributes with patterns of their values; those that may be missing end with `?`. */
  readonly attributes: Readonly<Record<string, RegExp>>
  /** Pattern of the children's names in order, each followed by a blank. */
  readonly children: RegExp
  readonly text?: true
}

const ANY = /^.*$/s
const FILLED = /\S/
const WHOLE = /^\d+$/
const DECIMAL = /^\d{1,3}(?:\.\d+)?$/
const COUNTS = { id: WHOLE, tests: WHOLE, failures: WHOLE, errors: WHOLE, time: DECIMAL }
const SUITE = { name: FILLED, package: ANY, hostname: FILLED, timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/, ...COUNTS }
const text = (attributes: Rule['attributes'] = {}): Rule => ({ attributes, children: /^$/, text: true })

const RULES: Readonly<Record<string, Rule>> = {
  testsuites: { attributes: {}, children: /^(?:testsuite )*$/ },
  testsuite: { attributes: SUITE, children: /^properties (?:testcase )*system-out system-err $/ },
  properties: { attributes: {}, children: /^(?:property )*$/ },
  property: { attributes: { name: FILLED, value: ANY }, children: /^$/ },
  testcase: { attributes: { name: ANY, classname: ANY, time: DECIMAL }, children: /^(?:(?:skipped|error|failure) )?$/ },
  failure: text({ type: ANY, 'message?': ANY }),
  error: text({ type: ANY, 'message?': ANY }),
  skipped: text({ 'message?': ANY }),
  'system-out': text(),
  'system-err': text(),
}

const PIECE =
  /<(?<closing>\/?)(?<name>[a-z-]+)(?<attributes>(?: [a-z]+="(?:[^"&<]|&(?:amp|lt|gt|quot|apos);)*")*)(?<empty>\/?)>|(?<text>(?:[^<&]|&(?:amp|lt|gt|quot|apos);)+)/gy

/** @returns problems of a JUnit report: malformed XML, or violations of the schemas */
export function junitViolations(xml: string): readonly string[] {
  const violations: string[] = []
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>'
  if (!xml.startsWith(declaration)) violations.push('it has no declaration')
  const root = { name: '', children: '' }
  const open = [root]
  const body = xml.slice(declaration.length)
  let end = 0
  const close = () => {
    const { name, children } = open.pop() ?? root
    if (!RULES[name]?.children.test(children)) violations.push(`${name} holds ${children || 'nothing'}`)
  }
  for (const { 0: piece, index, groups = {} } of body.matchAll(PIECE)) {
    end = index + piece.length
    const { name = '', closing, attributes = '', empty, text } = groups
    const parent = open.at(-1) ?? root
    if (text !== undefined) {
      if (text.trim() !== '' && !RULES[parent.name]?.text) violations.push(`${parent.name} holds text: ${text.trim()}`)
    } else if (closing === '/') {
      if (parent.name !== name) violations.push(`${parent.name} ends as ${name}`)
      close()
    } else {
      parent.children += `${name} `
      violations.push(...attributeViolations(name, attributes))
      open.push({ name, children: '' })
      if (empty === '/') close()
    }
  }
  if (end !== body.length) violations.push(`it is not well-formed: ${body.slice(end, end + 80)}`)
  if (open.length !== 1 || root.children !== 'testsuites ') violations.push('the root is not a single testsuites')
  return violations
}

function attributeViolations(name: string, written: string): readonly string[] {
  const rules = RULES[name]?.attributes ?? {}
  const given = new Map([...written.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]))
  const missing = Object.keys(rules).filter((key) => !key.endsWith('?') && !given.has(key))
  const wrong = [...given].filter(([key, value]) => !(rules[key] ?? rules[`${key}?`])?.test(value))
  return [...missing, ...wrong.map(([key, value]) => `${key}="${value}"`)].map((what) => `${name}: ${what}`)
}
