/** The stricter rules of Ant's schema (JUnit.xsd) and Jenkins' (xUnit plugin, junit-10.xsd). */
interface Rule {
  /** Attributes with patterns of their values. */
  readonly required: Readonly<Record<string, RegExp>>
  readonly optional?: Readonly<Record<string, RegExp>>
  /** Pattern of the children's names in order, each followed by a blank. */
  readonly children: RegExp
  readonly text?: true
}

const ANY = /^.*$/s
const FILLED = /\S/
const WHOLE = /^\d+$/
const DECIMAL = /^\d{1,3}(?:\.\d+)?$/
const NONE = /^$/
const TROUBLE: Rule = { required: { type: ANY }, optional: { message: ANY }, children: NONE, text: true }

const RULES: Readonly<Record<string, Rule>> = {
  testsuites: { required: {}, children: /^(?:testsuite )*$/ },
  testsuite: {
    required: {
      id: WHOLE,
      name: FILLED,
      package: ANY,
      timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
      hostname: FILLED,
      tests: WHOLE,
      failures: WHOLE,
      errors: WHOLE,
      time: DECIMAL,
    },
    children: /^properties (?:testcase )*system-out system-err $/,
  },
  properties: { required: {}, children: /^(?:property )*$/ },
  property: { required: { name: FILLED, value: ANY }, children: NONE },
  testcase: {
    required: { name: ANY, classname: ANY, time: DECIMAL },
    children: /^(?:(?:skipped|error|failure) )?$/,
  },
  failure: TROUBLE,
  error: TROUBLE,
  skipped: { required: {}, optional: { message: ANY }, children: NONE, text: true },
  'system-out': { required: {}, children: NONE, text: true },
  'system-err': { required: {}, children: NONE, text: true },
}

const PIECE =
  /<(?<closing>\/?)(?<name>[a-z-]+)(?<attributes>(?: [a-z]+="(?:[^"&<]|&(?:amp|lt|gt|quot|apos);)*")*)(?<empty>\/?)>|(?<text>(?:[^<&]|&(?:amp|lt|gt|quot|apos);)+)/gy

/** @returns problems of a JUnit report: malformed XML, or violations of the schemas */
export function junitViolations(xml: string): readonly string[] {
  const violations: string[] = []
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>'
  if (!xml.startsWith(declaration)) violations.push('it has no declaration')
  const open: { readonly name: string; children: string }[] = [{ name: '', children: '' }]
  const body = xml.slice(declaration.length)
  let end = 0
  for (const { 0: piece, index, groups = {} } of body.matchAll(PIECE)) {
    end = index + piece.length
    const { name = '', closing, attributes = '', empty, text } = groups
    const parent = open.at(-1)
    if (parent === undefined) break
    if (text !== undefined) {
      if (text.trim() !== '' && !RULES[parent.name]?.text) violations.push(`${parent.name} holds text: ${text.trim()}`)
    } else if (closing === '/') {
      if (parent.name !== name) violations.push(`${parent.name} ends as ${name}`)
      violations.push(...childViolations(parent))
      open.pop()
    } else {
      parent.children += `${name} `
      violations.push(...attributeViolations(name, attributes))
      const element = { name, children: '' }
      if (empty === '/') violations.push(...childViolations(element))
      else open.push(element)
    }
  }
  if (end !== body.length) violations.push(`it is not well-formed: ${body.slice(end, end + 80)}`)
  if (open.length !== 1 || open[0]?.children !== 'testsuites ') violations.push('the root is not a single testsuites')
  return violations
}

function childViolations({ name, children }: { readonly name: string; readonly children: string }): readonly string[] {
  const rule = RULES[name]
  if (rule === undefined) return [`unknown element ${name}`]
  return rule.children.test(children) ? [] : [`${name} holds ${children || 'nothing'}`]
}

function attributeViolations(name: string, written: string): readonly string[] {
  const { required = {}, optional = {} } = RULES[name] ?? {}
  const given = new Map([...written.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]))
  const allowed = { ...required, ...optional }
  return [
    ...Object.keys(required).flatMap((key) => (given.has(key) ? [] : [`${name} has no ${key}`])),
    ...[...given].flatMap(([key, value]) => (allowed[key]?.test(value) ? [] : [`${name} has ${key}="${value}"`])),
  ]
}
