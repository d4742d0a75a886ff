import { createInstance, getHttpOperationsFromSpec, type IHttpConfig } from '@stoplight/prism-http'
import type { Contract, Operation } from './contract.js'
import { operationPlace, type Place, rootPlace } from './document.js'
import type { ContractEngine } from './engine.js'
import { concreteType, essenceOf, isJsonType, isXmlType } from './media-types.js'
import {
  contentsOf,
  examplesOf,
  type MockedBody,
  type MockedResponses,
  mockBy,
  mockedResponses,
  type Wish,
} from './mocked-bodies.js'

type HttpOperation = Awaited<ReturnType<typeof getHttpOperationsFromSpec>>[number]
type HttpComponents = Parameters<typeof createInstance>[1]

interface Prepared {
  readonly resource: HttpOperation
  readonly responses: MockedResponses
  /** The bodies that Prism chooses from; it gets their numbers only, so that no schema or digit is lost or costs time. */
  readonly bodies: readonly MockedBody[]
}

/** Takes a third of a second and 60 MB to load: only for operations without a handler. */
export async function openPrism(contract: Contract): Promise<ContractEngine> {
  const root = rootPlace(await contract.document())
  const prepared = new Map<string, Promise<Prepared>>()

  return {
    async mock(request) {
      const { operation, status } = request
      const key = `${operation.id} ${status}`
      const known = prepared.get(key) ?? prepare(operationPlace(root, operation), operation, status)
      prepared.set(key, known)
      const { resource, responses, bodies } = await known
      const response = await mockBy(request, operation, responses, async (wish) => {
        const output = await negotiate(resource, wish)
        if (output === undefined) return undefined
        const type = Object.entries(output.headers ?? {}).find(([name]) => /^content-type$/i.test(name))?.[1]
        const isEmpty = output.body === undefined || output.body === null
        return {
          status: output.statusCode,
          contentType: typeof type === 'string' ? type : undefined,
          body: isEmpty ? undefined : bodies[Number(output.body)],
        }
      })
      if (response === undefined) throw new Error(`Prism has no response of ${operation.id}.`)
      return response
    },
  }
}

/** @returns undefined if there is no such example, or no media type that the client accepts */
async function negotiate(resource: HttpOperation, { status, example, accept }: Wish) {
  const components: HttpComponents = {
    logger: SILENT,
    // Prism's router compares base addresses.
    route: () => ({ _tag: 'Right', right: resource }),
  }
  const config: IHttpConfig = {
    isProxy: false,
    validateRequest: false,
    validateResponse: false,
    checkSecurity: false,
    errors: false,
    upstreamProxy: undefined,
    mock: {
      dynamic: false,
      ...(status !== undefined && { code: status }),
      ...(example !== undefined && { exampleKey: example }),
      ...(accept !== undefined && { mediaTypes: accept.split(',').map((range) => range.trim()) }),
    },
  }
  const request = { method: resource.method as 'get', url: { path: '/' }, headers: {} }
  const result = await createInstance(config, components).request(request, [resource])()
  return result._tag === 'Right' ? result.right.output : undefined
}

async function prepare(place: Place | undefined, operation: Operation, forced: number | undefined): Promise<Prepared> {
  const bodies: MockedBody[] = []
  const documented = mockedResponses(place, forced)
  const { statuses, find } = documented
  const responses = Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: '', content: numberedContents(find(status), Number(status), bodies) },
    ]),
  )
  const paths = { '/': { [operation.method.toLowerCase()]: { responses } } }
  const [resource] = await getHttpOperationsFromSpec({ openapi: '3.1.0', info: { title: '', version: '' }, paths })
  if (resource === undefined) throw new Error(`Prism cannot read ${operation.id}.`)
  return { resource, responses: documented, bodies }
}

/** The contents of a response with a number for each example. */
function numberedContents(response: Place | undefined, status: number, bodies: MockedBody[]) {
  const contents = contentsOf(response).map(([mediaType, content]) => {
    const essence = essenceOf(mediaType)
    const examples = examplesOf(content, status, isJsonType(essence), isXmlType(essence)).map(([name, body]) => {
      return [name, { value: String(bodies.push(body) - 1) }] as const
    })
    return [concreteType(mediaType), { examples: Object.fromEntries(examples) }] as const
  })
  return Object.fromEntries(contents)
}

const nothing = () => {}
/** Prism expects a pino logger with one more level. */
const SILENT = {
  ...{ fatal: nothing, error: nothing, warn: nothing, info: nothing, debug: nothing, trace: nothing, success: nothing },
  child: () => SILENT,
}
