export interface SiteFile {
  readonly file: string
  /** As in the `integrity` of a request: rejects a site of mixed versions. */
  readonly integrity: string
  readonly contentType: string
  readonly policy?: string
}

export interface Site {
  /** Changes with any of its files. */
  readonly version: string
  /** Each file by the address below the site at which the worker serves it. */
  readonly files: Readonly<Record<string, SiteFile>>
}

/** The site's files, kept in the browser, so that it works without its web host. */
export class SiteFiles {
  readonly #site: Site
  readonly #scope: URL
  /** Of the names of this playground's caches: an origin may have several playgrounds, and other caches. */
  readonly #prefix: string
  readonly #cacheName: string

  constructor(site: Site, scope: URL) {
    this.#site = site
    this.#scope = scope
    this.#prefix = `petstore-sandbox ${scope.pathname} `
    this.#cacheName = this.#prefix + site.version
  }

  async load(): Promise<void> {
    const cache = await caches.open(this.#cacheName)
    // Some files have two addresses, and a cache takes each request once.
    const files = new Map(Object.values(this.#site.files).map((one) => [one.file, one]))
    await cache.addAll(
      [...files.values()].map(
        ({ file, integrity }) => new Request(new URL(file, this.#scope), { integrity, cache: 'no-cache' }),
      ),
    )
  }

  async removeOthers(): Promise<void> {
    const names = await caches.keys()
    const others = names.filter((name) => name.startsWith(this.#prefix) && name !== this.#cacheName)
    await Promise.all(others.map((name) => caches.delete(name)))
  }

  has(address: string): boolean {
    return Object.hasOwn(this.#site.files, address)
  }

  async answer(address: string): Promise<Response> {
    const found = this.#site.files[address]
    if (found === undefined) return Response.error()
    const { file, contentType, policy } = found
    const url = new URL(file, this.#scope)
    const cache = await caches.open(this.#cacheName)
    const kept = (await cache.match(url)) ?? (await fetch(url))
    if (!kept.ok) return kept
    const headers = new Headers({
      'Content-Type': contentType,
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    })
    if (policy !== undefined) headers.set('Content-Security-Policy', policy)
    return new Response(kept.body, { headers })
  }
}
