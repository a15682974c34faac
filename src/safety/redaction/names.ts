const word =
  '(?:pass(?:word|wd|phrase|code)|secret(?:[_-]?access)?(?:[_-]?key)?(?:[_-]?base)?|token|credentials?|(?:api|access|private|account|auth|signing|encryption|master|service)[_-]?key|[_-]pass|[_-]pat|apikey)'

/** The end of a name that says its value is a secret; a number may follow, as in API_KEY_2. */
export const secretEnd = `${word}[_-]?\\d{0,2}`

const secretName = new RegExp(`(?:${secretEnd}|[_-]key)$`, 'i')

export function isSecretName(name: string): boolean {
  return secretName.test(name)
}
