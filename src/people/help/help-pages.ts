import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { sourcePath } from '../../base/source-text.ts'

/** A page of the documentation. */
export type HelpPage = {
  /** The name of the page, which is the name of its file. If another page has the same name, a reference's name begins with its folder. */
  name: string
  title: string
  /** The page's line in the table of contents. */
  about: string | undefined
  /** Whether the page is a reference, which is generated from the code. */
  isReference: boolean
  text: string
}

/** A part of a page below one heading, up to the next heading. */
export type HelpSection = { page: HelpPage; heading: string; text: string }

/** The folder of the pages: beside the built program, or in the repository. */
function pagesFolder(): string {
  const built = sourcePath('docs')
  return existsSync(built) ? built : join(import.meta.dirname, '../../../docs')
}

const references = 'reference/'

/** The page that lists the others; it is also the table of contents here. */
const contents = 'README'

/** All pages in the order of the table of contents, the references last. Empty if the folder has no pages. */
export function helpPages(folder = pagesFolder()): HelpPage[] {
  const paths = (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [])
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.replace(/\.md$/, ''))
    .sort()
  const textOf = (path: string) => readFileSync(join(folder, `${path}.md`), 'utf8')
  const listed = paths.includes(contents) ? listedPages(textOf(contents)) : new Map<string, string>()
  const places = [...listed.keys()]
  const placeOf = (path: string) => (listed.has(path) ? places.indexOf(path) : places.length)
  const shortOf = (path: string) => path.replace(references, '')
  const nameOf = (path: string) => (paths.includes(shortOf(path)) ? path : shortOf(path))
  return paths
    .filter((path) => path !== contents)
    .sort((a, b) => Number(a.includes('/')) - Number(b.includes('/')) || placeOf(a) - placeOf(b))
    .map((path) => {
      const text = pageText(textOf(path), path, (other) => (paths.includes(other) ? nameOf(other) : undefined))
      const [, title = path] = /^# +(.*)$/m.exec(text) ?? []
      const about = listed.get(path)
      return { name: nameOf(path), title, about, isReference: path.startsWith(references), text }
    })
}

/** The pages that the table of contents lists, with their lines: `- [Title](name.md): words`. */
function listedPages(text: string): Map<string, string> {
  const rows = [...text.matchAll(/^- (\[[^\]]+\]\(([\w./-]+)\.md\).*)$/gm)]
  return new Map(rows.map(([, line = '', path = '']) => [path, line.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')]))
}

/** A page as it is read outside a browser: without pictures and comments, and with commands instead of links to other pages. */
function pageText(source: string, path: string, nameOf: (path: string) => string | undefined): string {
  return source
    .replaceAll(/<!--[^]*?-->\n*/g, '')
    .replaceAll(/^\s*(?:!\[[^\]]*\]\([^)]*\)\s*|<(?:img|picture|source|p|\/p|\/picture)\b[^>]*>\s*)+$/gm, '')
    .replaceAll(/\[([^\]]+)\]\((?!https?:)([^)#]*)(?:#[^)]*)?\)/g, (_whole, words: string, target: string) => {
      const name = nameOf(posix.join(posix.dirname(path), target.replace(/\.md$/, '')))
      return name === undefined ? words : `${words} (\`termaite help ${name}\`)`
    })
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

/** The sections of a page. A line in a code block is not a heading. */
export function sectionsOf(page: HelpPage): HelpSection[] {
  const sections: HelpSection[] = []
  let fence: string | undefined
  for (const line of page.text.split('\n')) {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? []
    if (mark !== undefined) fence = fence === undefined ? mark : line.trim().startsWith(fence) ? undefined : fence
    const [, heading] = (fence === undefined && /^#{1,4} +(.*)$/.exec(line)) || []
    const last = sections.at(-1)
    if (heading !== undefined || !last) sections.push({ page, heading: heading ?? page.title, text: line })
    else last.text += `\n${line}`
  }
  return sections.map((section) => ({ ...section, text: section.text.trim() }))
}
