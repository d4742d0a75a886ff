import { exactJson } from './exact-json.js'
import { isMap, type JsonMap } from './json-map.js'
import { markersOf } from './markers.js'
import { type PlanRow, planRows } from './plan-rows.js'
import { operationAt } from './served-contract.js'
import type { SwaggerComponent, SwaggerElement, SwaggerPlugin, SwaggerSystem } from './swagger-ui.js'

/**
 * What the page adds to Swagger UI: its plugin for one contract.
 *
 * @param useKey is told each key that is filled in, undefined when one is taken out
 */
export function sandboxPlugin(
  contract: JsonMap,
  useKey: (key: string | undefined) => void,
): (system: SwaggerSystem) => SwaggerPlugin {
  return (system) => ({
    components: {
      OperationSummaryPath: operationSummaryPath(system, contract),
      ServersContainer: thisSandbox(system, contract),
    },
    wrapComponents: {
      InfoContainer: (original) => withPlans(system, original, planRows(contract['x-plans'])),
      responseBody: (original) => withExactJson(system, original),
    },
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (original) => (payload) => {
            useKey(keyOf(payload))
            return original(payload)
          },
          logout: (original) => (payload) => {
            useKey(undefined)
            return original(payload)
          },
        },
      },
      spec: { wrapSelectors: { allowTryItOutFor: () => (_state, path, method) => isTriedOut(contract, path, method) } },
    },
  })
}

/** The key in what the Authorize dialog hands over: `{<scheme>: {value}}`. */
function keyOf(payload: unknown): string | undefined {
  const [filled] = isMap(payload) ? Object.values(payload) : []
  return isMap(filled) && typeof filled.value === 'string' ? filled.value : undefined
}

/** The service's own docs hide the panel of some operations; so does this page. */
function isTriedOut(contract: JsonMap, path = '', method = ''): boolean {
  return operationAt(contract, path, method)['x-hideTryItPanel'] !== true
}

/**
 * An operation's path with its markers. It stands in for Swagger UI's own, which
 * is a link inside a button; the address of an operation is set by opening it.
 */
function operationSummaryPath({ React }: SwaggerSystem, contract: JsonMap): SwaggerComponent<OperationSummary> {
  const { createElement } = React
  return ({ operationProps }) => {
    const path = String(operationProps.get('path'))
    // Swagger UI itself knows no more than the summary of an operation before it is opened.
    const operation = operationAt(contract, path, String(operationProps.get('method')))
    const isDeprecated = operation.deprecated === true
    return createElement(
      React.Fragment,
      null,
      createElement(
        'span',
        { className: `opblock-summary-path${isDeprecated ? '__deprecated' : ''}`, 'data-path': path },
        path,
      ),
      ...markersOf(operation).map(({ kind, text }) =>
        createElement('span', { key: kind, className: `marker ${kind}` }, text),
      ),
    )
  }
}

interface OperationSummary {
  /** An immutable.js map: path, method and more. */
  readonly operationProps: { get(name: string): unknown }
}

/** Where requests go, instead of a choice with one entry. */
function thisSandbox({ React }: SwaggerSystem, { servers }: JsonMap): SwaggerComponent {
  const [server] = Array.isArray(servers) ? servers : []
  const text = isMap(server) ? String(server.url) : ''
  return () =>
    React.createElement('p', { className: 'server' }, 'Sent to this sandbox: ', React.createElement('code', null, text))
}

/** The contract's title and description, and below them the plans. */
function withPlans({ React }: SwaggerSystem, original: unknown, rows: readonly PlanRow[]): unknown {
  const { createElement } = React
  if (rows.length === 0) return original
  const cells = (name: 'td' | 'th', row: readonly string[]) =>
    row.map((text, index) => createElement(name, { key: index, ...(name === 'th' ? { scope: 'col' } : {}) }, text))
  return (props: object): SwaggerElement =>
    createElement(
      React.Fragment,
      null,
      createElement(original, props),
      createElement(
        'section',
        { className: 'plans', 'aria-labelledby': 'plans' },
        createElement('h2', { id: 'plans' }, 'Rate limits by plan'),
        createElement(
          'table',
          null,
          createElement('thead', null, createElement('tr', null, cells('th', HEADINGS))),
          createElement('tbody', null, ...rows.map((row) => createElement('tr', { key: row[0] }, cells('td', row)))),
        ),
      ),
    )
}

const HEADINGS = ['Plan', 'Requests a minute', 'Requests a day']

interface ResponseBody {
  readonly content: unknown
  readonly contentType?: string
}

/** An answer's body. Swagger UI writes JSON anew from what JSON.parse made of it, which loses digits of an int64. */
function withExactJson(system: SwaggerSystem, original: unknown): SwaggerComponent<ResponseBody> {
  const { createElement } = system.React
  return (props) => {
    const isJson = typeof props.content === 'string' && /json/i.test(props.contentType ?? '')
    const exact = isJson ? exactJson(String(props.content)) : undefined
    if (exact === undefined) return createElement(original, props)
    const highlighted = { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true }
    return createElement(
      'div',
      null,
      createElement('h5', null, 'Response body'),
      createElement(system.getComponent('HighlightCode', true), highlighted, exact),
    )
  }
}
