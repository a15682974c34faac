import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Settings } from '../../settings/settings.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { installedServers } from '../../languages/server-search.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'

/** The findings about the language servers of one language. */
export type LanguageFinding = {
  language: string
  state: 'found' | 'not trusted' | 'missing' | 'off'
  server?: string
  program?: string
  /** How to install a server, if none was found. */
  install?: string
}

/** Finds the language server that would report errors of each language after an edit. Starts nothing. */
export async function languageFindings(
  { env, clock }: Io,
  place: Place,
  settings: Settings,
): Promise<LanguageFinding[]> {
  const { agreed } = await new TrustBook(fileStore(place.home, { clock }), { clock, own: place.home }).of(place.root)
  const byLanguage = Map.groupBy(installedServers({ root: place.root, env, agreed }), ({ server }) => server.language)
  return [...byLanguage].map(([name, servers]) => {
    const language = servers[0]!.server.title
    if (!settings.diagnostics.languages.includes(name)) return { language, state: 'off' }
    const best = servers.find(({ state }) => state === 'usable') ?? servers.find(({ state }) => state === 'not agreed')
    if (best?.program === undefined)
      return {
        language,
        state: 'missing',
        install: [...new Set(servers.map(({ server }) => server.install))].slice(0, 2).join(', or '),
      }
    const program = shortPath(best.program, place.root)
    return { language, state: best.state === 'usable' ? 'found' : 'not trusted', server: best.server.name, program }
  })
}

/** The findings as lines for a person. */
export function languageLines(findings: readonly LanguageFinding[]): string[] {
  return findings.map(({ language, state, server, program, install }) => {
    if (state === 'off') return `    ${language.padEnd(10)} off, as the settings say`
    if (state === 'missing') return `    ${language.padEnd(10)} no language server; to install one: ${install}`
    const waits = state === 'found' ? '' : '; it starts only after you trust this folder: termaite trust'
    return `    ${language.padEnd(10)} ${server} (${program})${waits}`
  })
}
