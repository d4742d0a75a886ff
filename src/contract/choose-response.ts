import type { Contract } from './contract.js'
import { operationPlace, type Place, rootPlace } from './document.js'
import type { ContractEngine } from './engine.js'
import { concreteType, essenceOf, isInRange, isJsonType, isXmlType } from './media-types.js'
import {
  type ChosenResponse,
  contentsOf,
  examplesOf,
  type MockedResponses,
  mockBy,
  mockedResponses,
  type Wish,
} from './mocked-bodies.js'

/** Chooses responses as Prism does, where Prism is too large: in pages. */
export async function openChooser(contract: Contract): Promise<ContractEngine> {
  const root = rootPlace(await contract.document())
  return {
    async mock(request) {
      const { operation, status } = request
      const responses = mockedResponses(operationPlace(root, operation), status)
      const response = await mockBy(request, operation, responses, (wish) => choose(responses, wish))
      if (response === undefined) throw new Error(`There is no response of ${operation.id}.`)
      return response
    },
  }
}

function choose({ statuses, find }: MockedResponses, { status, example, accept }: Wish): ChosenResponse | undefined {
  const [success] = statuses.filter((status) => /^2/.test(status)).sort()
  const named = status === undefined ? (success ?? statuses[0] ?? '') : String(status)
  const code = named === 'default' ? 200 : Number(named)
  const contents = contentsOf(find(named))
  if (contents.length === 0) return { status: code, contentType: undefined, body: undefined }
  const found = accept === undefined ? contents[0] : findAccepted(contents, accept)
  if (found === undefined) return undefined
  const [mediaType, content] = found
  const essence = essenceOf(mediaType)
  const bodies = examplesOf(content, code, isJsonType(essence), isXmlType(essence))
  const body = example === undefined ? bodies[0] : bodies.find(([name]) => name === example)
  if (body === undefined && example !== undefined) return undefined
  return { status: code, contentType: concreteType(mediaType), body: body?.[1] }
}

type Content = readonly [mediaType: string, content: Place]

/** The first content of the range that the client likes best. @source RFC 9110, section 12.5.1 */
function findAccepted(contents: readonly Content[], accept: string): Content | undefined {
  const ranges = accept.split(',').map((range) => {
    const quality = /;\s*q=([\d.]+)/i.exec(range)?.[1]
    return { range: essenceOf(range), quality: quality === undefined ? 1 : Number(quality) }
  })
  const liked = ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)
  for (const { range } of liked) {
    const found = contents.find(
      ([mediaType]) => isInRange(range, essenceOf(mediaType)) || isInRange(essenceOf(mediaType), range),
    )
    if (found !== undefined) return found
  }
  return undefined
}
