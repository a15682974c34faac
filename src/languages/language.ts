import { defined } from '../base/defined.ts'

/** The languages whose errors can be reported, as the settings name them. */
export const languages = ['typescript', 'python', 'go', 'rust'] as const

export type Language = (typeof languages)[number]

/** The languages whose errors are reported, and how many seconds an edit waits for them, if the usual time does not suit. */
export type Diagnostics = { languages: readonly Language[]; seconds?: number }

/** The setting for diagnostics: all languages on or off, or some of them; languages that are not named are on. */
type DiagnosticsSetting = boolean | (Partial<Record<Language, boolean>> & { seconds?: number })

/** Applies a setting to the languages that were on before: it can only switch languages off. */
export function diagnosticsOf(
  setting: DiagnosticsSetting | undefined,
  before: Diagnostics = { languages },
): Diagnostics {
  if (setting === undefined || setting === true) return before
  if (setting === false) return { ...before, languages: [] }
  const { seconds = before.seconds, ...some } = setting
  return defined({ languages: before.languages.filter((language) => some[language] !== false), seconds })
}
