import type { PdfPages } from './pdf-pages.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { extractText } from 'unpdf'
import { messageOf } from '../../../base/error-message.ts'

/** The body of the thread that reads one PDF file, so that reading a hostile or huge file can be stopped without stopping the program. */
async function pagesOf(body: Uint8Array): Promise<PdfPages> {
  try {
    return { pages: (await extractText(body, { mergePages: false })).text }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

parentPort?.postMessage(await pagesOf(workerData as Uint8Array))
