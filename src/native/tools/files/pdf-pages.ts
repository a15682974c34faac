import type { Clock } from '../../../base/time/clock.ts'
import { existsSync } from 'node:fs'
import { sourcePath } from '../../../base/source-text.ts'

/** The text of each page of a PDF file, or the reason why it cannot be read. */
export type PdfPages = { pages: string[] } | { problem: string }

export const isPdf = (head: Buffer): boolean => head.subarray(0, 5).equals(Buffer.from('%PDF-'))

const longestMs = 60_000
const mostMegabytes = 512

/** Reads a PDF in a separate thread, which is stopped if the call is cancelled, takes too long or needs too much memory. */
export async function pdfPages(body: Uint8Array, clock: Clock, signal: AbortSignal): Promise<PdfPages> {
  const source = sourcePath('native/tools/files/pdf-worker.ts')
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(existsSync(source) ? source : sourcePath('native/tools/files/pdf-worker.js'), {
    workerData: body,
    // The library warns about fonts, which the text does not need.
    stdout: true,
    stderr: true,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  })
  const over = new AbortController()
  const read = new Promise<PdfPages>((resolve) => {
    worker.once('message', resolve)
    worker.once('error', (error) => resolve({ problem: error.message }))
    worker.once('exit', () => resolve({ problem: 'the thread that read the file ended early' }))
  })
  const limit = clock
    .sleep(longestMs, AbortSignal.any([signal, over.signal]))
    .then(() => ({ problem: signal.aborted ? 'cancelled' : `reading it took longer than ${longestMs / 1000} s` }))
  try {
    return await Promise.race([read, limit])
  } finally {
    over.abort()
    await worker.terminate()
  }
}

/** The pages as one text, so that its lines can be numbered; a page without text says so, because it is often a scan. */
export function pagesText(pages: readonly string[]): string {
  return pages
    .map(
      (page, i) =>
        `--- page ${i + 1} of ${pages.length} ---\n${page.trim() || '[no text on this page: it may be a picture]'}`,
    )
    .join('\n\n')
}
