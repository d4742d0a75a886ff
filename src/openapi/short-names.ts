import { literalsOf } from '../contract/names.js'
import {
  type LinkData,
  type ParentData,
  RESERVED_NAME,
  type ResourceAction,
  type ResourceData,
} from '../contract/resource-data.js'

interface Named {
  readonly resources: readonly ResourceData[]
  /** What each operation does, or why it is mocked, by its id. */
  readonly outcomes: ReadonlyMap<string, ResourceAction | string>
}

/** Shortens names, which are paths, to the shortest end of their segments without parameters that no other resource has. */
export function withShortNames({ resources, outcomes }: Named): Named {
  const endings = new Map(resources.map(({ path }) => [path, endingsOf(path)]))
  const count = new Map<string, number>()
  for (const ending of [...endings.values()].flat()) count.set(ending, (count.get(ending) ?? 0) + 1)
  const names = new Map(
    Array.from(endings, ([path, own]) => [
      path,
      own.find((ending) => count.get(ending) === 1 && ending !== RESERVED_NAME) ?? path.slice(1),
    ]),
  )
  const short = (name: string) => names.get(name) ?? name
  const ids = new Map(resources.map(({ path, id }) => [path, id]))
  const shortParents = (parents: readonly ParentData[]) =>
    parents.map(({ resource = '', ...parent }): ParentData => {
      const id = ids.get(resource)
      if (id === undefined) return parent
      const { template, kind } = id
      const facts = { ...(template && { template }), ...(kind === 'integer' && ({ isInteger: true } as const)) }
      return { ...parent, resource: short(resource), ...facts }
    })
  const shortLinks = (links: Readonly<Record<string, LinkData>>) =>
    Object.fromEntries(
      Object.entries(links).map(([name, link]) => [name, { ...link, resource: short(link.resource) }] as const),
    )
  const shortAction = ({ pathFilters, ...action }: ResourceAction): ResourceAction => ({
    ...action,
    resource: short(action.resource),
    ...(pathFilters && { pathFilters: shortParents(pathFilters) }),
  })
  return {
    resources: resources.map(({ links, twins, references, ...resource }) => ({
      ...resource,
      name: short(resource.name),
      parents: shortParents(resource.parents),
      ...(links && { links: shortLinks(links) }),
      ...(twins && { twins: twins.map((twin) => ({ ...twin, resource: short(twin.resource) })) }),
      ...(references && {
        references: Object.fromEntries(Object.entries(references).map(([name, path]) => [name, short(path)])),
      }),
    })),
    outcomes: new Map(Array.from(outcomes, ([id, one]) => [id, typeof one === 'string' ? one : shortAction(one)])),
  }
}

/** `pets`, `owners/pets` of `/owners/{ownerId}/pets`. */
function endingsOf(path: string): readonly string[] {
  const literals = literalsOf(path)
  return literals.map((_, index) => literals.slice(-1 - index).join('/'))
}
