import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'

/** `compressed` is made with the first request, because making it at the start would delay the hub. */
type PageFile = { type: string; bytes: Buffer; compressed?: Buffer; tag: string; cache: string }

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

/** The page loads nothing from elsewhere, and only runs scripts and uses styles that are files of its own. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // The page may create one trusted-types policy, for the address of its own worker.
  'trusted-types termaite-worker',
].join('; ')

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

/** A file with a hash of its content in its name never changes. */
const hashed = /-[0-9a-f]{12}\.\w+$/

/** The files of the hub's page. They contain no data and no secret, so everybody who reaches the hub may read them. */
export class PageFiles {
  #files = new Map<string, PageFile>()
  /** The version of the page, which changes with every file that the page needs to start; empty if there is no page. */
  readonly version: string

  /** Reads every file of the folder; without a folder there are no files. */
  constructor(folder: string) {
    for (const name of globSync('**/*.*', { cwd: folder })) {
      const bytes = readFileSync(join(folder, name))
      this.#files.set(`/${name}`, {
        type: types[extname(name)] ?? 'application/octet-stream',
        bytes,
        tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 16)}"`,
        cache: hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
      })
    }
    const index = this.#files.get('/index.html')
    if (index) this.#files.set('/', index)
    this.version = /name="termaite-version" content="([^"]*)"/.exec(index?.bytes.toString() ?? '')?.[1] ?? ''
  }

  /** Answers a request for a file; false when the page has no such file. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const file = this.#files.get((request.url ?? '/').split('?')[0]!)
    if (!file) return false
    const { type, bytes, tag, cache } = file
    // A worker that does not find this header in the page's answer removes itself: see worker/service-worker.ts.
    const worker = this.#files.has('/service-worker.js') ? { 'x-termaite-worker': 'keep' } : undefined
    const common = { ...headers, ...worker, 'cache-control': cache, etag: tag, vary: 'accept-encoding' }
    if (request.headers['if-none-match'] === tag) {
      response.writeHead(304, common)
      response.end()
      return true
    }
    const isSmall = /\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''))
    const body = isSmall ? (file.compressed ??= brotliCompressSync(bytes)) : bytes
    const encoding = isSmall ? { 'content-encoding': 'br' } : undefined
    response.writeHead(200, { ...common, 'content-type': type, 'content-length': body.length, ...encoding })
    response.end(request.method === 'HEAD' ? undefined : body)
    return true
  }
}
