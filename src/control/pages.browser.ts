/** In a browser, a web host or a service worker serves the pages. */
export const PAGE_FILES: Readonly<Record<string, never>> = {}

export function servePageFile(_page: never, _request: Request): Response {
  throw new Error('A browser has no files of the pages.')
}
