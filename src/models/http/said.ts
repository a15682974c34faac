import type { Trouble } from '../wire.ts'

/** What a server said went wrong, whichever provider's shape it is in. */
export type Said = {
  message: string
  /** Codes, types and states, in one line of small letters. */
  codes: string
  /** What it holds against, where it says so. */
  details: readonly any[]
  body: any
}

export function saidOf({ body, cause }: Trouble): Said {
  const whole: any = typeof body === 'string' ? parsed(body) : body
  const error = whole?.error ?? whole?.[0]?.error ?? whole
  if (typeof error === 'string') return { message: error.trim(), codes: '', details: [], body: whole }
  const codes = [error?.type, error?.code, error?.status, error?.error_type, error?.metadata?.error_type]
  const message = [error?.message, error?.detail, whole?.message].find((one) => typeof one === 'string' && one !== '')
  return {
    message: message ?? causeWords(cause) ?? '',
    codes: codes
      .filter((code) => typeof code === 'string')
      .join(' ')
      .toLowerCase(),
    details: Array.isArray(error?.details) ? error.details : [],
    body: error,
  }
}

/** A page of HTML says nothing to anybody. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { error: /^\s*</.test(text) ? '' : text }
  }
}

/** The innermost cause of a broken connection is the one that says what broke. */
function causeWords(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return cause === undefined ? undefined : String(cause)
  return causeWords(cause.cause) ?? (cause.message || codeOf(cause))
}

/** The code of the innermost cause, as the system names it. */
export function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined
  const { code, cause: inner, errors } = cause as { code?: unknown; cause?: unknown; errors?: unknown[] }
  return codeOf(inner) ?? codeOf(errors?.[0]) ?? (typeof code === 'string' ? code : undefined)
}
