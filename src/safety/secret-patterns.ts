const word =
  '(?:pass(?:word|wd|phrase|code)|secret(?:[_-]?access)?(?:[_-]?key)?(?:[_-]?base)?|token|credentials?|(?:api|access|private|account|auth|signing|encryption|master|service)[_-]?key|[_-]pass|[_-]pat|apikey)'

/** The end of a variable's name that marks its value as secret; a number may follow, for example API_KEY_2. */
const secretEnd = `${word}[_-]?\\d{0,2}`

const secretName = new RegExp(`(?:${secretEnd}|[_-]key)$`, 'i')

export function isSecretVariable(name: string): boolean {
  return secretName.test(name)
}

export const masked = '…[masked]'

/**
 * Keys with a known form. Every pattern starts with a fixed word and then matches one class of characters, so that every text is read
 * only once.
 */
const shapes: readonly { keep: string; body: string; mixed?: true }[] = [
  { keep: 'sk-ant-', body: '[\\w-]{16,}' },
  { keep: 'sk-(?:proj|svcacct|admin|or-v1|lf|sp)-', body: '[\\w-]{16,}' },
  { keep: '[srp]k_(?:live|test)_', body: '\\w{10,}' },
  { keep: 'AIza', body: '[\\w-]{35,}' },
  { keep: 'ya29\\.', body: '[\\w.-]{20,}' },
  { keep: 'GOCSPX-', body: '[\\w-]{20,}' },
  { keep: 'gsk_', body: '\\w{20,}' },
  { keep: '(?:xai|pplx|csk|nvapi|glpat|glsa|gldt|rubygems|dapi)[-_]', body: '[\\w-]{20,}', mixed: true },
  { keep: '(?:hf|r8|npm|sbp|ntn|shpat|shpss|dop_v1|lin_api|dckr_pat|whsec|tgp_v1)_', body: '[\\w-]{20,}', mixed: true },
  { keep: 'tmk_', body: '[\\w-]{40,}' },
  { keep: 'gh[pousr]_', body: '\\w{20,}' },
  { keep: 'github_pat_', body: '\\w{20,}' },
  { keep: 'xox[abeoprs]-', body: '[\\w-]{10,}' },
  { keep: 'xapp-', body: '[\\w-]{20,}' },
  { keep: 'pypi-AgE', body: '[\\w-]{20,}' },
  { keep: 'SG\\.', body: '[\\w-]{16,64}\\.[\\w-]{16,}' },
  { keep: 'AGE-SECRET-KEY-1', body: '[0-9A-Z]{20,}' },
  { keep: '(?:AKIA|ASIA)', body: '[0-9A-Z]{16}(?![0-9A-Za-z])' },
  { keep: 'eyJ', body: '[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]*' },
  { keep: 'sk-', body: '[\\w-]{20,}', mixed: true },
]

/** The start of a word; the letter of an escape such as \n before it does not count. */
const start = '(?:(?<![\\w-])|(?<=\\\\[nrt]))'

const known = new RegExp(start + '(?:' + shapes.map(({ keep, body }) => `(${keep})(${body})`).join('|') + ')', 'g')

const keyPair = /(?<![0-9A-Za-z])((?:AKIA|ASIA)[0-9A-Z]{16}[\s,:;|"']{1,8})[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+])/g

const armour =
  /(-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----)(?:(?:[^-]|-(?!----)){0,32768}(-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----)|(?:(?:\s|\\[nr]){1,8}[0-9A-Za-z+/=]{32,512}){1,512})/g

/** The beginnings of all these patterns. Most texts contain none of them, and compiling the whole patterns takes milliseconds. */
const mayHoldToken = new RegExp(['-----BEGIN', ...shapes.map(({ keep }) => keep)].join('|'))

export function maskTokens(text: string): string {
  if (!mayHoldToken.test(text)) return text
  return text
    .replace(armour, (_, begin: string, end = '') => `${begin}${masked}${end}`)
    .replace(keyPair, (_, id: string) => id + masked)
    .replace(known, (all: string, ...parts: (string | undefined)[]) => {
      const at = shapes.findIndex((_, i) => parts[2 * i] !== undefined)
      return shapes[at]!.mixed && !looksRandom(parts[2 * at + 1]!) ? all : parts[2 * at]! + masked
    })
}

/** Distinguishes keys from long names in code: a key mixes digits and letters, and has letters of both cases or is hexadecimal. */
function looksRandom(body: string): boolean {
  return /\d/.test(body) && ((/[a-z]/.test(body) && /[A-Z]/.test(body)) || /^[\da-f]{32,}$/.test(body))
}

const bare = '[^\\s"\'`,;&|<>(){}\\[\\]\\\\…]'
const quoted = '[^\\s"\'`\\\\…]'
const value = `(?<open>\\\\{0,3}["'\`]?)(?<value>(?<=["'\`])${quoted}{4,256}|${bare}{4,256})`

/** `name = value` in all spellings, and `--name value`, if the name is secret; every repetition is bounded. */
const assignments = new RegExp(
  `(?<![\\w.-])(?<name>[\\w.-]{0,64}?${secretEnd})\\\\{0,3}["'\`\\]]{0,2}(?<sign>[ \\t]{0,8}(?::=|=>|={1,2}|:)[ \\t]{0,8})${value}`,
  'gi',
)
const flags = new RegExp(`(?<![\\w.-])(?<name>--[\\w-]{0,64}?${secretEnd})(?<sign>[ \\t]{1,4})${value}`, 'gi')
const rest = { bare: new RegExp(`${bare}*`, 'y'), quoted: new RegExp(`${quoted}*`, 'y') }
/** A quoted value may contain spaces if its quote is closed on the same line. */
const closed = {
  '"': /[^"\\\n\r]{0,512}(?=\\{0,3}")/y,
  "'": /[^'\\\n\r]{0,512}(?=\\{0,3}')/y,
  '`': /[^`\\\n\r]{0,512}(?=\\{0,3}`)/y,
}

const header =
  /\b(authorization\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?(?:[A-Za-z]{1,16}\s{1,4})?)([\w.~+/=:-]{8,})/gi
const bearer = /\b(bearer\s{1,4})([\w.~+/=-]{16,})/gi
const cookie = /\b((?:set-)?cookie\\{0,3}["']?\s{0,4}:\s{0,4}\\{0,3}["']?[\w.-]{1,64}=)([^\s;"'\\…]{8,})/gi
const address = /(?<![\w+.-])([a-z][a-z\d+.-]{1,20}:\/\/[^\s:@/'"`]{0,128}:)([^\s@/'"`]{1,256})@/gi

/** Every name that marks a value as secret contains one of these, and so does every header and every address with a password. */
const mayHoldAssignment = /pass|secret|token|credential|key|[_-]pat|authorization|bearer|cookie|:\/\//i

export function maskAssignments(text: string): string {
  if (!mayHoldAssignment.test(text)) return text
  const plain = text
    .replace(address, (all, before: string, secret: string) => (isPlaceholder(secret) ? all : `${before}${masked}@`))
    .replace(header, (all, before: string, secret: string) => (/\d/.test(secret) ? before + masked : all))
    .replace(bearer, (all, before: string, secret: string) => (/\d/.test(secret) ? before + masked : all))
    .replace(cookie, (_, before: string) => before + masked)
  return maskValues(assignments, maskValues(flags, plain))
}

/** Masks values; a value that is not a secret is searched again, because it may contain the next name. */
function maskValues(pattern: RegExp, text: string): string {
  let out = ''
  let from = 0
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const { name = '', sign = '', open = '', value = '' } = found.groups!
    const start = found.index + found[0].length - value.length
    pattern.lastIndex = start
    if (!isSecret({ name, sign, open, value }, text.charAt(start + value.length))) continue
    // A value is judged by its beginning and then masked up to its end, which is read only once.
    const quote = /["'`]$/.exec(open)?.[0] as keyof typeof closed | undefined
    const whole = quote && lengthAt(closed[quote], text, start)
    const end = start + (whole ?? lengthAt(quote ? rest.quoted : rest.bare, text, start)!)
    out += text.slice(from, start) + masked
    pattern.lastIndex = from = end
  }
  return out + text.slice(from)
}

function lengthAt(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.exec(text)?.[0].length
}

type Assignment = { name: string; sign: string; open: string; value: string }

/** Whether a value is a secret, and not code that handles one. */
function isSecret({ name, sign, open, value }: Assignment, after: string): boolean {
  if (isPlaceholder(value)) return false
  const flag = name.startsWith('--')
  if (flag && value.startsWith('-')) return false
  // Numbers of tokens are not secret.
  if (/^\d+$/.test(value) && !/pass/i.test(name)) return false
  if (/["'`]/.test(open)) return /\d/.test(value) || /pass|secret/i.test(name)
  // A value that continues as a call, an index or a member is an expression.
  if (/[([{<]/.test(after) || isExpression(value)) return false
  const tight = !/\s/.test(sign) || flag
  if (tight && !sign.includes(':')) return true
  const long = sign.includes(':') && /pass/i.test(name) ? 6 : sign.includes(':') ? 8 : 12
  return value.length >= long && /\d/.test(value) && (/[A-Za-z]/.test(value) || /pass/i.test(name))
}

const ordinary = new Set(
  'string number boolean object null none undefined true false void never unknown required optional invalid missing expired empty value values password passwd secret token tokens bytes changeme redacted masked hidden example default unset file stdin prompt keychain env test self this'.split(
    ' ',
  ),
)

/** A word in place of a secret: a type, a variable, an example. */
function isPlaceholder(value: string): boolean {
  const bare = value.replace(/[.!?*]+$/, '')
  return (
    bare === '' ||
    ordinary.has(bare.toLowerCase()) ||
    /^[$%@<{]/.test(value) ||
    /^[A-Z][A-Z_]*$/.test(bare) ||
    /^(?:x{3,}|y?our[_-]|my[_-]|the[_-]|some[_-]|\.{3}|-{2,})/i.test(value) ||
    /^(?:u?int|float|[iuf])\d+|^(?:big)?u?int\d+|^(?:u?int|float)?\d*array$/i.test(bare) ||
    value === masked
  )
}

function isExpression(value: string): boolean {
  return (
    /^(?:process|os|env|self|this|config|settings|options|ctx|req|res|args|import)\b[.?!]/.test(value) ||
    /^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+$/.test(value)
  )
}
