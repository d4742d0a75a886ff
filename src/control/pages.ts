import { pagesDirectory } from '../system/package-files.js'
import { readRegularFile } from '../system/regular-file.js'

/** A file of the pages, and how to send it. */
interface PageFile {
  readonly file: string
  readonly contentType: string
  /** For a page: its Content-Security-Policy. */
  readonly policy?: string
}

/**
 * What the pages may load: scripts, styles and responses of this server, and
 * nothing else. Nothing may frame them, so that no click can be hijacked.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

/** Every file of the pages, by its path below the control plane. No path is ever derived from a request. */
export const PAGE_FILES: Readonly<Record<string, PageFile>> = {
  '/': { file: 'dashboard.html', contentType: HTML, policy: POLICY },
  '/docs': { file: 'docs.html', contentType: HTML, policy: POLICY },
  '/assets/dashboard.js': { file: 'dashboard.js', contentType: JAVASCRIPT },
  '/assets/dashboard.css': { file: 'dashboard.css', contentType: CSS },
  '/assets/docs.js': { file: 'docs.js', contentType: JAVASCRIPT },
  '/assets/docs.css': { file: 'docs.css', contentType: CSS },
  '/assets/swagger-ui.js': { file: 'swagger-ui.js', contentType: JAVASCRIPT },
  '/assets/swagger-ui.css': { file: 'swagger-ui.css', contentType: CSS },
  '/assets/icon.svg': { file: 'icon.svg', contentType: 'image/svg+xml' },
}

/** Answers with a file of the pages. */
export async function servePageFile({ file, contentType, policy }: PageFile): Promise<Response> {
  const content = readRegularFile(`${pagesDirectory}/${file}`)
  return new Response(new Uint8Array(content), {
    headers: {
      'Content-Type': contentType,
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...(policy === undefined ? {} : { 'Content-Security-Policy': policy }),
    },
  })
}
