import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HubAnswer, StreamedText } from './hub-router.ts'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'

/** Headers that make browsers treat an answer only as data of this origin: neither as a page or a script, nor as a part of another site. */
export const answerHeaders = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'referrer-policy': 'no-referrer',
}

/** Answers with JSON. */
export function send(
  response: ServerResponse,
  { status, body, headers }: HubAnswer,
  more?: Record<string, string>,
): void {
  sendText(response, status, JSON.stringify(body), { ...headers, ...more })
}

function sendText(
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: Record<string, string> = {},
): void {
  if (response.destroyed) return
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...answerHeaders,
    ...headers,
  })
  response.end(text)
}

/** A signal that aborts as soon as the caller hangs up, even while its request is still being read. */
export function hangUpSignal({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  // Without a reason, an abort creates an error, which costs more.
  const hungUp = () => gone.abort('gone')
  // The caller may have hung up during the lookup of its key.
  if (socket.readableEnded || socket.destroyed || response.destroyed) hungUp()
  socket.once('end', hungUp)
  response.once('close', () => {
    socket.off('end', hungUp)
    hungUp()
  })
  return gone.signal
}

/** The longest body: longer than any prompt or answer. Longer texts are sent in pieces. */
const mostBytes = 4 * 1024 * 1024

type JsonBody = { json: unknown } | { refused: 400 | 413 | 415; why: string }

const tooLong: JsonBody = { refused: 413, why: `the body is larger than ${mostBytes / 1024 / 1024} MB` }

/** Reads a body as JSON; an empty body is undefined. */
export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > mostBytes) return tooLong
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) return tooLong
    chunks.push(chunk)
  }
  if (size === 0) return { json: undefined }
  // A web page of another site can send a form without permission, but not JSON.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return { refused: 415, why: 'the body must be sent as application/json' }
  try {
    return { json: JSON.parse(Buffer.concat(chunks).toString('utf8')) }
  } catch {
    return { refused: 400, why: 'the body is not valid JSON' }
  }
}

/**
 * Sends a text while it is being read, compressed if the caller accepts that. Browsers show it as text, whatever its content looks like.
 */
export async function streamText(
  request: IncomingMessage,
  response: ServerResponse,
  { chunks, bytes }: StreamedText,
): Promise<void> {
  const zipped = takesGzip(request)
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    ...answerHeaders,
    vary: 'accept-encoding',
    ...(zipped ? { 'content-encoding': 'gzip' } : { 'content-length': String(bytes) }),
  })
  if (zipped) await pipeline(chunks, createGzip({ level: constants.Z_BEST_SPEED }), response)
  else await pipeline(chunks, response)
}

/** Answers with JSON, compressed if that is worthwhile and the caller accepts it. */
export async function sendCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: HubAnswer,
): Promise<void> {
  const text = JSON.stringify(body)
  if (text.length < worthCompressing || !takesGzip(request)) return sendText(response, status, text, headers)
  const small = await gzipped(text)
  sendText(response, status, small, { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' })
}

/** Compressing shorter answers does not make them faster. */
const worthCompressing = 16 * 1024
const gzipped = promisify(gzip)

export const takesGzip = ({ headers }: IncomingMessage) => /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
