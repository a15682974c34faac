import type { FileProblems } from './diagnostics-report.ts'
import type { Connection } from './server-connection.ts'
import type { LanguageServer } from './server-table.ts'
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { languageIdOf } from './server-table.ts'

/** A file whose text the server gets from us rather than from the disk. */
export type OpenDocument = {
  path: string
  uri: string
  version: number
  text: string
  /** The last errors that the server reported, and the text to which they belong. */
  known: (FileProblems & { text: string }) | undefined
  isOpen: boolean
}

/** The most recently edited files stay open in a server; earlier ones are closed, to limit memory. */
const mostOpen = 20

/** Longer files are not sent to a server. */
const longestText = 1024 * 1024

/** The files that are open in one server, by path; the most recently used one is last. */
export class OpenDocuments {
  #all = new Map<string, OpenDocument>()
  #uris = new Set<string>()

  get size(): number {
    return [...this.#all.values()].filter(({ isOpen }) => isOpen).length
  }

  has(path: string): boolean {
    return this.#all.get(path)?.isOpen === true
  }

  hasUri(uri: string): boolean {
    return this.#uris.has(uri)
  }

  get(path: string): OpenDocument | undefined {
    return this.#all.get(path)
  }

  /** Opens a file, unless it is open already. If the file was open in a server that ended, its earlier errors are still known. */
  open(path: string, text: string, server: LanguageServer, connection: Connection): OpenDocument {
    const uri = pathToFileURL(path).href
    const doc = this.#all.get(path) ?? { path, uri, version: 0, text, known: undefined, isOpen: false }
    this.#all.delete(path)
    this.#all.set(path, doc)
    if (!doc.isOpen) {
      if (doc.known && doc.known.text !== text) doc.known = undefined
      doc.text = text
      doc.isOpen = true
      this.#uris.add(uri)
      const textDocument = { uri, languageId: languageIdOf(server, path), version: ++doc.version, text }
      connection.notify('textDocument/didOpen', { textDocument })
    }
    for (const old of this.#all.keys()) {
      if (this.#all.size <= mostOpen) break
      this.close(old, connection)
    }
    return doc
  }

  /** Sends a new text whole; `saved`: it is on the disk. */
  change(doc: OpenDocument, text: string, connection: Connection, saved = false): void {
    const { uri } = doc
    if (text !== doc.text) {
      doc.text = text
      const textDocument = { uri, version: ++doc.version }
      connection.notify('textDocument/didChange', { textDocument, contentChanges: [{ text }] })
    }
    if (saved) connection.notify('textDocument/didSave', { textDocument: { uri }, text })
  }

  close(path: string, connection: Connection): void {
    const doc = this.#all.get(path)
    this.#all.delete(path)
    if (!doc?.isOpen) return
    doc.isOpen = false
    this.#uris.delete(doc.uri)
    connection.notify('textDocument/didClose', { textDocument: { uri: doc.uri } })
  }

  /** The server ended: its files are opened again with the next edits. */
  closeAll(): void {
    for (const doc of this.#all.values()) doc.isOpen = false
    this.#uris.clear()
  }

  /** Open files except `except`, the most recently used first. */
  latest(most: number, except: readonly OpenDocument[]): OpenDocument[] {
    const others = [...this.#all.values()].filter((doc) => doc.isOpen && !except.includes(doc))
    return others.slice(-most).reverse()
  }

  /** Sends files that changed on the disk without an edit: their errors were not caused by the edit that follows. */
  async readAgain(connection: Connection, except: ReadonlySet<string>): Promise<void> {
    await Promise.all(
      [...this.#all.values()]
        .filter(({ path, isOpen }) => isOpen && !except.has(path))
        .map(async (doc) => {
          const text = await textOf(doc.path)
          if (text === undefined) this.close(doc.path, connection)
          else if (text !== doc.text) {
            doc.known = undefined
            this.change(doc, text, connection, true)
          }
        }),
    )
  }
}

/** The text of a file that can be sent to a server; undefined if it cannot. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(path)
    return bytes.length > longestText || bytes.includes(0) ? undefined : bytes.toString('utf8')
  } catch {
    return undefined
  }
}
