/** Whoever serves the pages to a browser has their files: a web host, or a service worker. */
export const PAGE_FILES: Readonly<Record<string, never>> = {}

export function servePageFile(_page: never, _request: Request): Response {
  throw new Error('A browser has no files of the pages.')
}
