import { cellWidth, wrapCells } from '../cells.js'
import { escapeControls } from '../escape-controls.js'

/** What is worth knowing of a sandbox that has just started. */
export interface BannerFacts {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly plan: string
  readonly pets: number
  readonly seed: number
  /** A key that is served, and may be shown; undefined if there is none. */
  readonly key: string | undefined
  /** Path of an operation that needs nothing but a key: `/pets`. */
  readonly path: string
  /** The store's file, as its user would name it; undefined for none. */
  readonly store: string | undefined
  /** The group of which it is a replica; undefined for none. */
  readonly group: string | undefined
  /** The real service that it is in front of; undefined for none. */
  readonly upstream: string | undefined
  /** Whether keys are read one by one. */
  readonly readsKeys: boolean
}

/** The first lines at a terminal. @source docs/cli.md, "Ready line" */
export function banner(facts: BannerFacts, columns: number): string {
  const { baseUrl, controlUrl, plan, pets, seed, key, path, upstream, readsKeys } = facts
  const ready = `Ready on ${baseUrl} (plan ${plan}, ${pets} pets, seed ${seed})`
  return [
    ...wrapCells(ready, columns - 1),
    '',
    ...curl(`${baseUrl}${path}`, key ?? '<one of your keys>', columns),
    '',
    ...(upstream === undefined ? [] : [`  in front of ${escapeControls(upstream)}`]),
    `  dashboard  ${controlUrl}/`,
    `  docs       ${controlUrl}/docs`,
    `  store      ${placeOf(facts)}`,
    ...(readsKeys ? ['', 'press h for help'] : []),
    '',
  ].join('\n')
}

function placeOf({ store, group }: BannerFacts): string {
  if (group !== undefined) return `shared by the replicas of the group "${group}", in Redis`
  return store === undefined ? 'none: everything is in memory' : escapeControls(store)
}

/** A command to be copied; a shell joins its two lines. */
function curl(url: string, key: string, columns: number): readonly string[] {
  const sends = `  curl -H 'Authorization: Bearer ${escapeControls(key)}'`
  const line = `${sends} ${url}`
  return cellWidth(line) < columns ? [line] : [`${sends} \\`, `    ${url}`]
}
