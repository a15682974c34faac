import type { IncomingMessage } from 'node:http'

/** More than any prompt, answer or diff. */
const mostBytes = 4 * 1024 * 1024

export type Body = { json: unknown } | { refused: 400 | 413 | 415; why: string }

/** What was sent, as JSON; nothing sent is nothing. */
export async function bodyOf(request: IncomingMessage): Promise<Body> {
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
  // A page elsewhere can send a form without being asked for leave, but never JSON.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return { refused: 415, why: 'send application/json' }
  try {
    return { json: JSON.parse(Buffer.concat(chunks).toString('utf8')) }
  } catch {
    return { refused: 400, why: 'that is no JSON' }
  }
}

const tooLong: Body = { refused: 413, why: `that is more than ${mostBytes / 1024 / 1024} MB` }
