/** A browser sandbox has no pages. */
export const PAGE_FILES: Readonly<Record<string, never>> = {}

export function servePageFile(_page: never, _request: Request): Response {
  throw new Error('The dashboard and docs pages are not available in a browser sandbox.')
}

export const DOCUMENT_PATHS: string[] = []

export function packagedDocument(_file: string): undefined {}
