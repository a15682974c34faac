import type { FileHandle } from 'node:fs/promises'
import type { LineRange } from '../../core/talk/attach.ts'
import type { Meant } from './meant.ts'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** What is attached of a file: `cut` says what is missing, `lines` are those that are there. */
export type Part = { body: string; cut?: string; lines?: LineRange }

/** Reads at most so much; throws words when nothing of it can be attached. */
export async function readPart(named: Meant, most: number): Promise<Part> {
  // Never waits: what was a file when it was looked at may be a pipe by now.
  const file = await open(named.at, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new Error('a pipe, a socket or a device is no file to attach')
    return named.lines ? await linesOf(file, named.lines, most) : await headOf(file, most)
  } finally {
    await file.close()
  }
}

async function headOf(file: FileHandle, most: number): Promise<Part> {
  const buffer = Buffer.alloc(most + 1)
  let bytes = 0
  for await (const chunk of chunks(file)) {
    bytes += chunk.copy(buffer, bytes)
    if (bytes > most) break
  }
  if (bytes <= most) return { body: textOf(buffer.subarray(0, bytes)) }
  const { size } = await file.stat()
  const cut = `only its first ${kilobytes(most)} of ${kilobytes(Math.max(size, bytes))} are attached`
  return { body: textOf(buffer.subarray(0, most)), cut }
}

/** So far into a file a line is looked for. */
const furthest = 64 * 1024 * 1024

async function linesOf(file: FileHandle, { from, to }: LineRange, most: number): Promise<Part> {
  const kept: Buffer[] = []
  let [line, bytes, passed, last] = [1, 0, 0, 10]
  for await (const chunk of chunks(file)) {
    for (let at = 0; at < chunk.length && line <= to && bytes <= most;) {
      const newline = chunk.indexOf(10, at)
      const end = newline < 0 ? chunk.length : newline + 1
      if (line >= from) bytes += kept[kept.push(chunk.subarray(at, end)) - 1]!.length
      if (newline >= 0) line++
      at = end
    }
    last = chunk.at(-1) ?? last
    passed += chunk.length
    if (line > to || bytes > most) break
    if (passed > furthest) throw new Error(`line ${from} lies too far into it`)
  }
  const whole = last === 10 ? line - 1 : line
  if (bytes === 0) throw new Error(`it has only ${whole} ${whole === 1 ? 'line' : 'lines'}`)
  const lines = { from, to: Math.min(to, Math.max(from, whole)) }
  if (bytes <= most) return { body: textOf(Buffer.concat(kept)).replace(/\n$/, ''), lines }
  const cut = `only the first ${kilobytes(most)} of these lines are attached`
  return { body: textOf(Buffer.concat(kept).subarray(0, most)), lines: { from, to: line }, cut }
}

async function* chunks(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.alloc(64 * 1024)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** A character that was cut in half at the end is left out. */
function textOf(bytes: Buffer): string {
  if (bytes.includes(0)) throw new Error('it is no text')
  return new TextDecoder().decode(bytes, { stream: true })
}

const kilobytes = (bytes: number) =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
