import type { StateView } from '../../control/views.js'
import { PROBLEMS } from '../../domain/problems.js'
import { asList, asMap, asText, type JsonMap, resolve } from '../contract-parts.js'

type ShownState = Pick<StateView, 'keyHeader' | 'keys' | 'operations' | 'explanation'>

/** The only security scheme of the shown contract, unless the contract has several. */
export const KEY_SCHEME = 'apiKey'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** @source docs/behaviour.md, "Forcing a response" */
const PREFER = {
  name: 'Prefer',
  in: 'header',
  description: 'Forces a documented response: `code=404`. It uses no quota. The sandbox also forces 429, 500 and 503.',
  schema: { type: 'string', pattern: '^code=\\d{3}$' },
}

/**
 * The served contract as the page shows it: with this sandbox as the only server, its key header, its own chapters in
 * the description, and `Prefer` as a parameter. Only for people: clients are generated from the served contract.
 *
 * @param space of the page; empty for the default space
 */
export function shownContract(contract: JsonMap, state: ShownState, baseUrl: string, space: string): JsonMap {
  const info = asMap(contract.info)
  const { keyHeader, operations } = state
  const reasons = new Map(operations.mocked.map(({ operation, reason }) => [operation, reason]))
  const schemes = ownSchemes(contract)
  // Scalar's own settings, such as environments; the page has its own, and stays empty if one has another form.
  const shown = Object.fromEntries(Object.entries(contract).filter(([name]) => !name.startsWith('x-scalar-')))
  return {
    ...shown,
    info: {
      ...info,
      description: [asText(info.summary), asText(info.description), chapters(contract, state, space)].join('\n\n'),
    },
    servers: [{ url: baseUrl, description: 'This sandbox' }],
    ...(schemes === undefined && { security: [{ [KEY_SCHEME]: [] }] }),
    components: {
      ...asMap(contract.components),
      securitySchemes: schemes ?? { [KEY_SCHEME]: securityScheme(keyHeader) },
    },
    paths: mapValues(asMap(contract.paths), (given, path) => {
      const { servers: _, ...item } = asMap(given)
      const parts = mapValues(item, (part, method) => {
        if (!METHODS.includes(method)) return part
        const { security, ...others } = asMap(part)
        const operation = schemes === undefined || security === undefined ? others : { ...others, security }
        return shownOperation(operation, reasons.get(operationId(operation, method, path)))
      })
      return { ...parts, parameters: [...asList(item.parameters), PREFER] }
    }),
  }
}

/** Several security schemes, each with a form for a key of this sandbox; undefined if the contract has fewer. */
export function ownSchemes(contract: JsonMap): JsonMap | undefined {
  const schemes = asMap(asMap(contract.components).securitySchemes)
  if (Object.keys(schemes).length < 2) return undefined
  return mapValues(schemes, (given) => {
    const scheme = resolve(contract, given)
    const isBearer = scheme.type === 'oauth2' || scheme.type === 'openIdConnect'
    return isBearer ? { type: 'http', scheme: 'bearer' } : scheme
  })
}

/** Ids of operations that the contract does not want to be tried. */
export function hiddenPanels(contract: JsonMap): readonly string[] {
  return operationsOf(contract).flatMap(({ id, operation }) => (operation['x-hideTryItPanel'] === true ? [id] : []))
}

function operationId(operation: JsonMap, method: string, path: string): string {
  return asText(operation.operationId) || method.toUpperCase() + path
}

/** @param reason why it is mocked; undefined if it is not */
function shownOperation({ servers: _, ...operation }: JsonMap, reason: string | undefined): JsonMap {
  const { deprecated, 'x-deprecated-sunset': sunset, 'x-stability': stability } = operation
  const badges = [
    ...(sunset === undefined ? [] : [`Removed on ${dayText(asText(sunset))}`]),
    ...(stability === undefined ? [] : [asText(stability)]),
    ...(reason === undefined ? [] : ['Mocked']),
  ]
  const description = [
    asText(operation.description),
    ...(reason === undefined || reason === '' ? [] : [`Mocked: ${reason}`]),
  ]
  return {
    ...operation,
    deprecated: deprecated === true || sunset !== undefined,
    description: description.join('\n\n'),
    'x-badges': badges.map((name) => ({ name, position: 'before' })),
  }
}

function securityScheme({ name, prefix }: StateView['keyHeader']): JsonMap {
  const description = 'A key of this sandbox. See Keys.'
  return prefix === ''
    ? { type: 'apiKey', in: 'header', name, description }
    : { type: 'http', scheme: 'bearer', description }
}

/** Which operations require a key. */
function keysText({ keyHeader, explanation }: ShownState): string {
  const operations = explanation?.operations ?? []
  const open = operations.filter(({ needsKey }) => !needsKey)
  if (open.length > 0 && open.length === operations.length) return 'No operation requires an API key.'
  const names = open.slice(0, MAX_NAMED).map(({ method, path }) => `\`${method} ${path}\``)
  const more = open.length > names.length ? ` and ${open.length - names.length} more` : ''
  const which = open.length === 0 ? 'Every operation' : `Every operation except ${names.join(', ')}${more}`
  return `${which} requires an API key: \`${keyHeader.name}: ${keyHeader.prefix}<key>\`, or as its security scheme says. Without a
valid key, the response is a 401.`
}

const MAX_NAMED = 10

function limitsText(contract: JsonMap, { keys }: ShownState): string {
  if (keys.every(({ minute, day }) => minute === null && day === null))
    return `This sandbox limits no requests: the contract has no plans. \`--limits 100/min\` sets limits. Limits that the contract
documents as headers are in its responses.`
  const plans = planRows(contract['x-plans'])
  return `${plans.length === 0 ? '' : `Requests allowed by each plan:\n\n${table(['Plan', 'A minute', 'A day'], plans)}\n\n`}While
requests are limited, responses have \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (a Unix
timestamp), and headers of limits that the contract documents. A request over the limit gets a 429 with \`Retry-After\`.
Wait that long, and longer each time the retry is refused. A key that keeps sending may be banned for a while. Refused
requests use no quota.`
}

function chapters(contract: JsonMap, state: ShownState, space: string): string {
  const { keys } = state
  const deprecated = operationsOf(contract).filter(
    ({ operation }) => operation.deprecated === true || operation['x-deprecated-sunset'] !== undefined,
  )
  return `
# Keys

${keysText(state)}

${keys
  .map(({ key, plan, always, secret }) => {
    const name = secret ? `${key} (the label of a secret key)` : `\`${key}\``
    const facts = [...(plan === null ? [] : [plan]), ...(always === null ? [] : [`always ${always}`])]
    return `- ${[name, facts.join(', ')].filter(Boolean).join(': ')}`
  })
  .join('\n')}

## Spaces

Put \`/~name\` before the path, or append \`~name\` to a key, to use a separate space with its own records, quotas, clock
and log. With \`~name+sender\` or \`~+sender\` after a key, conduct judges each client that shares the key separately. ${
    space === '' ? '`docs?space=name` shows this page for a space.' : `This page uses the space \`${space}\`.`
  }

# Plans and rate limits

${limitsText(contract, state)}

# Errors

An error has the status and the form that the contract documents for it. One that it does not document, such as for an
unknown path, has the form of most that it documents; without any, the fields are \`code\`, \`message\` and \`status\`. A
setting of the sandbox may change the status. Responses that the sandbox makes up, such as a storm or a fault, name their
cause in \`X-Sandbox-Reason\`.

Causes, with their status unless the contract has another:

${Object.entries(PROBLEMS)
  .map(([code, { status, message }]) => `- \`${code}\` (${status}): ${message.replaceAll('<', '\\<')}`)
  .join('\n')}

${
  deprecated.length === 0
    ? ''
    : `# Deprecation

A response of a deprecated operation has \`Deprecation\` (since when, RFC 9745), \`Sunset\` (until when, RFC 8594) and
\`Link\` with the successor, as far as the contract has them. From the removal date on, the operation responds with an error.
To see it, move the clock of the sandbox to that date, or set \`sunset\` to \`after\`.

${deprecated
  .map(({ title, operation }) => {
    const { 'x-deprecated-sunset': sunset, 'x-deprecated-successor': successor } = operation
    const removal = sunset === undefined ? 'deprecated' : `removed on ${dayText(asText(sunset))}`
    return `- \`${title}\`: ${removal}${successor === undefined ? '' : `; use \`${asText(successor)}\``}.`
  })
  .join('\n')}`
}`
}

function operationsOf(contract: JsonMap) {
  return Object.entries(asMap(contract.paths)).flatMap(([path, item]) =>
    Object.entries(asMap(item)).flatMap(([method, given]) => {
      const operation = asMap(given)
      const title = `${method.toUpperCase()} ${path}`
      return METHODS.includes(method) ? [{ id: operationId(operation, method, path), title, operation }] : []
    }),
  )
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** `5 December 2030` for `2030-12-05`; other text unchanged. */
function dayText(text: string): string {
  const at = Date.parse(/^\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? '')
  return Number.isNaN(at) ? text : DAY.format(at)
}

/** Name, requests a minute, requests a day, from `x-plans`. */
function planRows(plans: unknown): readonly (readonly string[])[] {
  const limit = (value: unknown) => (typeof value === 'number' ? value.toLocaleString('en') : String(value ?? ''))
  return Object.entries(asMap(plans)).map(([name, plan]) => {
    const { requestsPerMinute, requestsPerDay } = asMap(plan)
    return [name.charAt(0).toUpperCase() + name.slice(1), limit(requestsPerMinute), limit(requestsPerDay)]
  })
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function mapValues(map: JsonMap, change: (value: unknown, name: string) => unknown): JsonMap {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value, name)]))
}
