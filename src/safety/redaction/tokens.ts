/**
 * Keys that are known by their shape. Every pattern begins at a fixed word and then eats one class of characters,
 * so a text is read once however it was made.
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

/** At the start of a word; the letter of an escape such as \n before it is no part of it. */
const start = '(?:(?<![\\w-])|(?<=\\\\[nrt]))'

const known = new RegExp(start + '(?:' + shapes.map(({ keep, body }) => `(${keep})(${body})`).join('|') + ')', 'g')

const keyPair = /(?<![0-9A-Za-z])((?:AKIA|ASIA)[0-9A-Z]{16}[\s,:;|"']{1,8})[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+])/g

const armour =
  /(-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----)(?:(?:[^-]|-(?!----)){0,32768}(-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----)|(?:(?:\s|\\[nr]){1,8}[0-9A-Za-z+/=]{32,512}){1,512})/g

export const masked = '…[masked]'

export function maskTokens(text: string): string {
  return text
    .replace(armour, (_, begin: string, end = '') => `${begin}${masked}${end}`)
    .replace(keyPair, (_, id: string) => id + masked)
    .replace(known, (all: string, ...parts: (string | undefined)[]) => {
      const at = shapes.findIndex((_, i) => parts[2 * i] !== undefined)
      return shapes[at]!.mixed && !looksRandom(parts[2 * at + 1]!) ? all : parts[2 * at]! + masked
    })
}

/** Long names in code have words in them; a key has digits among letters, and is of both cases or of hex. */
function looksRandom(body: string): boolean {
  return /\d/.test(body) && ((/[a-z]/.test(body) && /[A-Z]/.test(body)) || /^[\da-f]{32,}$/.test(body))
}
