/** The languages whose errors can be reported, as the settings name them. */
export const languages = ['typescript', 'python', 'go', 'rust'] as const

export type Language = (typeof languages)[number]

/** What a setting says of languages: all of them on or off, or some; those that it does not name are on. */
export type LanguageSwitch = boolean | Partial<Record<Language, boolean>>

/** The languages that a setting leaves on, of those that were on before. */
export function languagesOn(
  setting: LanguageSwitch | undefined,
  before: readonly Language[] = languages,
): readonly Language[] {
  if (setting === undefined || setting === true) return before
  return setting === false ? [] : before.filter((language) => setting[language] !== false)
}
