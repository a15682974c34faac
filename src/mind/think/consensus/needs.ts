/** What an approach needs, as far as a program can tell. */
export type Need =
  | { kind: 'network' }
  | { kind: 'root' }
  | { kind: 'system'; name: 'linux' | 'macos' | 'windows' }
  /** Any of these will do. */
  | { kind: 'program'; name: string; any: readonly string[]; atLeast?: string }
  | { kind: 'package'; name: string; from: string }

const plain = new Map<string, Need>(
  Object.entries({
    network: { kind: 'network' },
    internet: { kind: 'network' },
    root: { kind: 'root' },
    sudo: { kind: 'root' },
    linux: { kind: 'system', name: 'linux' },
    macos: { kind: 'system', name: 'macos' },
    windows: { kind: 'system', name: 'windows' },
  }),
)

/** What people call a program, and what it is called where it is installed. */
const called = new Map<string, readonly string[]>(
  Object.entries({
    cargo: ['cargo', 'rust'],
    browser: ['google-chrome', 'chromium', 'firefox'],
    chrome: ['google-chrome', 'chromium'],
    golang: ['go'],
    graphviz: ['dot'],
    imagemagick: ['magick', 'convert'],
    latex: ['pdflatex', 'latex'],
    libreoffice: ['libreoffice', 'soffice'],
    nodejs: ['node'],
    'node.js': ['node'],
    npx: ['npm'],
    pip3: ['pip'],
    poppler: ['pdftotext'],
    postgresql: ['psql'],
    python3: ['python'],
    ripgrep: ['rg'],
    rustc: ['rust'],
    soffice: ['soffice', 'libreoffice'],
    sqlite: ['sqlite3'],
    texlive: ['pdflatex'],
  }),
)

/** What a program may be called, the usual name first. */
export const namesOf = (name: string): readonly string[] => called.get(name) ?? [name]

/** A name that is longer is none. */
const longestNeed = 80

/** Reads one need; undefined for words that only a person could check. */
export function needIn(words: string): Need | undefined {
  const text = words.trim().replace(/ (access|connection|rights|privileges)$/i, '')
  if (text.length > longestNeed) return undefined
  const known = plain.get(text.toLowerCase())
  if (known) return known
  const [, from, name] = /^([a-z][\w-]*):\s*(\S+)$/i.exec(text) ?? []
  if (from !== undefined) return { kind: 'package', from: from.toLowerCase(), name: name! }
  const [, program, version] = /^([a-z][a-z\d.+-]*?)(?:(?:\s*(?:>=|@)\s*|\s+)v?(\d+(?:\.\d+)*)\+?)?$/i.exec(text) ?? []
  if (program === undefined) return undefined
  const any = namesOf(program.toLowerCase())
  return { kind: 'program', name: any[0]!, any, ...(version === undefined ? {} : { atLeast: version }) }
}

/** The programs that somebody should look for before it is said that they are not there. */
export function programsIn(needs: readonly string[]): string[] {
  const names = needs.map(needIn).flatMap((need) => {
    if (need?.kind === 'program') return need.any
    return need?.kind === 'package' ? [need.from, ...namesOf(need.name)] : []
  })
  return [...new Set(names)].filter((name) => /^[\w.+-]+$/.test(name))
}
