/** A file of the site, as the build lists it. */
export interface SiteFile {
  /** Where the web host has it, relative to the site. */
  readonly file: string
  /** As in the `integrity` of a request: a site of which one half is newer than the other is not taken. */
  readonly integrity: string
  readonly contentType: string
  /** For a page: its Content-Security-Policy. */
  readonly policy?: string
}

/** What the build knows of the site. */
export interface Site {
  /** Changes with any of its files. */
  readonly version: string
  /** Each file by the address below the site at which the worker answers with it. */
  readonly files: Readonly<Record<string, SiteFile>>
}

/** The site's files, kept in the browser, so that it works without its web host. */
export class SiteFiles {
  readonly #site: Site
  readonly #scope: URL
  /** Of this playground's caches; an origin may have several playgrounds, and other things. */
  readonly #prefix: string

  /** @param scope address of the site, with a slash at its end */
  constructor(site: Site, scope: URL) {
    this.#site = site
    this.#scope = scope
    this.#prefix = `petstore-sandbox ${scope.pathname} `
  }

  /** Loads all files. Rejects if one is missing, or not the one that this worker was built with. */
  async load(): Promise<void> {
    const files = Object.values(this.#site.files)
    const cache = await caches.open(this.#name)
    await cache.addAll(
      files.map(({ file, integrity }) => new Request(this.#at(file), { integrity, cache: 'no-cache' })),
    )
  }

  /** Removes the files of other versions. */
  async removeOthers(): Promise<void> {
    const names = await caches.keys()
    const others = names.filter((name) => name.startsWith(this.#prefix) && name !== this.#name)
    await Promise.all(others.map((name) => caches.delete(name)))
  }

  /** @param address below the site: `__sandbox/docs` */
  has(address: string): boolean {
    return Object.hasOwn(this.#site.files, address)
  }

  /** Answers with a file; from the web host, if the browser has thrown it away. */
  async answer(address: string): Promise<Response> {
    const found = this.#site.files[address]
    if (found === undefined) return Response.error()
    const { file, contentType, policy } = found
    const cache = await caches.open(this.#name)
    const kept = (await cache.match(this.#at(file))) ?? (await fetch(this.#at(file)))
    if (!kept.ok) return kept
    return new Response(kept.body, {
      headers: {
        'Content-Type': contentType,
        'Cache-Control': 'no-cache',
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        ...(policy === undefined ? {} : { 'Content-Security-Policy': policy }),
      },
    })
  }

  get #name(): string {
    return this.#prefix + this.#site.version
  }

  #at(file: string): URL {
    return new URL(file, this.#scope)
  }
}
