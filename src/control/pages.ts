import { existsSync } from 'node:fs'
import { packageDirectory, pagesDirectory } from '../system/package-files.js'
import { readRegularFile } from '../system/regular-file.js'
import { digestOf } from '../system/runtime.js'

interface PageFile {
  readonly file: string
  readonly contentType: string
  readonly policy?: string
}

/** Pages load only from this server, and cannot be framed (clickjacking). */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Scalar inserts its styles into the page. */
const DOCS_POLICY = PAGE_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

/** By path below the control plane. File paths are never derived from a request. */
export const PAGE_FILES: Readonly<Record<string, PageFile>> = {
  '/': { file: 'dashboard.html', contentType: HTML, policy: PAGE_POLICY },
  '/docs': { file: 'docs.html', contentType: HTML, policy: DOCS_POLICY },
  '/assets/dashboard.js': { file: 'dashboard.js', contentType: JAVASCRIPT },
  '/assets/dashboard.css': { file: 'dashboard.css', contentType: CSS },
  '/assets/docs.js': { file: 'docs.js', contentType: JAVASCRIPT },
  '/assets/docs.css': { file: 'docs.css', contentType: CSS },
  '/assets/scalar.js': { file: 'scalar.js', contentType: JAVASCRIPT },
  '/assets/icon.svg': { file: 'icon.svg', contentType: 'image/svg+xml' },
}

/** Below the control plane, and in the package. */
export const DOCUMENT_PATHS = [
  '/llms.txt',
  ...['', '/docs', '/skills/petstore-sandbox'].map((folder) => `${folder}/:page{[A-Za-z-]+\\.md}`),
]

export function packagedDocument(file: string): Uint8Array | undefined {
  const path = packageDirectory + file
  return existsSync(path) ? readRegularFile(path) : undefined
}

export function servePageFile({ file, contentType, policy }: PageFile, request: Request): Response {
  const compressed = acceptsGzip(request.headers.get('accept-encoding') ?? '')
  const packaged = readRegularFile(`${pagesDirectory}/${file}.gz`)
  const content = compressed ? packaged : process.getBuiltinModule('node:zlib').gunzipSync(packaged)
  const tag = `"${digestOf(content)}"`
  const headers = {
    'Cache-Control': 'no-cache',
    ETag: tag,
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...(policy === undefined ? {} : { 'Content-Security-Policy': policy }),
  }
  const known = request.headers.get('if-none-match')?.split(/\s*,\s*/) ?? []
  if (known.includes(tag) || known.includes('*')) return new Response(null, { status: 304, headers })
  return new Response(new Uint8Array(content), {
    headers: { ...headers, 'Content-Type': contentType, ...(compressed ? { 'Content-Encoding': 'gzip' } : {}) },
  })
}

/** @source RFC 9110, section 12.5.3 */
function acceptsGzip(header: string): boolean {
  return header.split(',').some((part) => /^\s*gzip\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i.test(part))
}
