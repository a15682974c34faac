import type { Entry, Guide } from '../../core/talk/entry.ts'
import type { SessionPlace } from './instructions.ts'
import { statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { realIfThere, realOrSame } from '../../base/files/real-path.ts'
import { guidesOf } from '../../core/talk/compaction.ts'
import { folders, instructionsIn, readFolderInstructions } from './instructions.ts'
import { isInside } from '../../safety/untrusted-file.ts'

/** The most bytes of the instruction files of one folder, and of all folders of a session together. */
export const longestNested = { folder: 16 * 1024, all: 64 * 1024 }

const prefix = 'instructions:'

/** Guides for the model, and notes for the person. */
type NestedNews = { guides: Guide[]; notes: string[] }

/**
 * The instruction files of folders below the working folder. They are not in the frame: the model gets those of a folder when a tool has
 * read or written a file there, once for each version. The guides have no mark, so that a summary keeps them.
 */
export class NestedInstructions {
  #place: SessionPlace
  #root: string
  /** The folders whose instruction files are in the frame. */
  #framed: Set<string>
  #touched = new Set<string>()
  /** The texts that the model has got, by the name of their guide. */
  #given: Map<string, string>
  #unread = new Set<string>()

  constructor(place: SessionPlace, agent: string, history: readonly Entry[] = []) {
    this.#place = place
    this.#root = realOrSame(place.root)
    this.#framed = new Set(folders({ root: this.#root, cwd: realOrSame(place.cwd) }))
    const given = guidesOf(history).filter(({ by, name }) => by === agent && name.startsWith(prefix))
    this.#given = new Map(given.map(({ name, text }) => [name, text]))
  }

  /**
   * Notes that a tool has read or written a file. A folder does not count, because a search or a listing does not use a particular file.
   */
  touch(path: string): void {
    const file = realIfThere(path)
    if (file === undefined || !isInside(file, this.#root) || !isFile(file)) return
    for (let folder = dirname(file); folder !== this.#root && isInside(folder, this.#root); folder = dirname(folder))
      if (!this.#framed.has(folder)) this.#touched.add(folder)
  }

  /** The new instructions of the folders that were touched since the last call, outermost first. */
  take(): NestedNews {
    const touched = [...this.#touched].sort()
    this.#touched.clear()
    const news: NestedNews = { guides: [], notes: [] }
    for (const folder of touched) {
      if (instructionsIn(folder).length === 0) continue
      if (this.#place.trusted) this.#read(folder, news)
      else this.#leave(folder, news)
    }
    return news
  }

  #read(folder: string, news: NestedNews): void {
    const at = relative(this.#root, folder)
    const { text, files, warnings } = readFolderInstructions(folder, this.#root, longestNested.folder)
    const name = `${prefix}${at}`
    const whole = `${bindingFor(at)}\n${text}`
    const used = [...this.#given].reduce(
      (all, [other, one]) => (other === name ? all : all + Buffer.byteLength(one)),
      0,
    )
    const fits = used + Buffer.byteLength(whole) <= longestNested.all
    const names = files.map(({ path }) => relative(this.#root, path)).join(', ')
    const guide = fits
      ? whole
      : `${bindingFor(at)} They are too long to be shown here: read ${names} before you go on there.`
    if (files.length === 0 || this.#given.get(name) === guide) {
      if (files.length === 0) this.#tell(news, warnings)
      return
    }
    this.#given.set(name, guide)
    news.guides.push({ type: 'guide', name, text: guide })
    news.notes.push(`The agent was given the instructions for ${at}: ${names}.`)
    this.#tell(news, warnings)
  }

  #leave(folder: string, news: NestedNews): void {
    const names = instructionsIn(folder).map((path) => relative(this.#root, path))
    this.#tell(news, [
      `${names.join(', ')} ${names.length > 1 ? 'are' : 'is'} not followed, because this folder is not trusted. To trust it, run termaite trust, or type /trust in the chat.`,
    ])
  }

  /** Adds notes that were not shown in this turn. */
  #tell(news: NestedNews, notes: readonly string[]): void {
    for (const note of notes) if (!this.#unread.has(note)) news.notes.push(note)
    for (const note of notes) this.#unread.add(note)
  }
}

const bindingFor = (folder: string) =>
  `You have just used a file in ${folder}, which has instructions of its own. Follow them for the files there: they override the instructions of the folders above, and the user’s own words override them all.`

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
