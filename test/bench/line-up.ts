import { bareLike } from './contestants/bare.js'
import type { Contestant } from './contestants/contestant.js'
import { jsonServer, prism, scalar } from './contestants/peers.js'
import { sandbox, sandboxWithoutStore } from './contestants/sandbox.js'
import type { Extent } from './extent.js'
import { count } from './report/markdown.js'

/** Everybody who takes part, by the part they have. */
export interface LineUp {
  readonly bare: Contestant
  /** As `serve` starts: durable, with few, more and many pets. */
  readonly few: Contestant
  readonly more: Contestant
  readonly many: Contestant
  /** The same three, in memory. */
  readonly fewInMemory: Contestant
  readonly moreInMemory: Contestant
  readonly manyInMemory: Contestant
  readonly withoutStore: Contestant
  readonly peers: readonly Contestant[]
  /** Like `few`, but for one thing each. */
  readonly emptyLog: Contestant
  readonly besideSpaces: Contestant
  readonly inSpace: Contestant
}

/** @returns who takes part; the bare server has been held against the sandbox */
export async function lineUp({ pets: [few, more, many], spaces }: Extent): Promise<LineUp> {
  const durable = (pets: number) => sandbox(`petstore-sandbox, ${count(pets)} pets`, { pets })
  const inMemory = (pets: number) => sandbox(`petstore-sandbox, ${count(pets)} pets, in memory`, { pets, memory: true })
  const model = durable(few)
  return {
    bare: await bareLike(model),
    few: model,
    more: durable(more),
    many: durable(many),
    fewInMemory: inMemory(few),
    moreInMemory: inMemory(more),
    manyInMemory: inMemory(many),
    withoutStore: sandboxWithoutStore('petstore-sandbox, no store yet'),
    peers: [prism, jsonServer(few), scalar],
    emptyLog: sandbox('empty log (`--log-limit 0`)', { pets: few, flags: ['--log-limit', '0'] }),
    besideSpaces: sandbox(`${count(spaces)} spaces, in the default one`, { pets: few, spaces }),
    inSpace: sandbox(`${count(spaces)} spaces, in one of them`, { pets: few, spaces, inSpace: true }),
  }
}
