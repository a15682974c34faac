import type { IncomingHttpHeaders } from 'node:http'

export type Wire = 'anthropic' | 'responses' | 'chat' | 'gemini'

/** One request as a CLI sent it; `count` numbers the requests of the turns, side calls left out. */
export type Asked = {
  wire: Wire
  path: string
  headers?: IncomingHttpHeaders
  raw: Buffer
  text: string
  body: any
  count: number
  side: boolean
}

export type Tokens = { input: number; cached: number; output: number }

/** The next answer of a model. Errors are named for what went wrong; each wire words them as its provider does. */
export type Answer =
  /** `headers` are those by which a provider tells how much of a window is spent. */
  | { text: string; thought?: string; usage?: Tokens; headers?: Record<string, string> }
  | { call: { tool: string; input: unknown }; text?: string; usage?: Tokens }
  | { error: Trouble; headers?: Record<string, string> }
  | { refusal: string }
  /** An answer byte for byte, for errors that only one provider knows. */
  | { raw: Reply }
  /** The request is held open and nothing is sent. */
  | { hang: true }
  /** The connection breaks in the middle of the answer. */
  | { drop: string }
  /** The first part of the answer is sent, and nothing more comes. */
  | { stall: string }

export type Trouble = 'rate' | 'quota' | 'plan' | 'key' | 'credit' | 'server' | 'overloaded' | 'overflow'

export type Script = (asked: Asked) => Answer | Promise<Answer>

/** `input` counts the cached ones too. */
export const tokens: Tokens = { input: 1200, cached: 1000, output: 34 }

/** When a spent plan begins anew, in seconds since 1970: at 15:00 UTC of the day after tomorrow, which is always told with its date. */
export const planResets = (Math.floor(Date.now() / 86_400_000) + 2) * 86_400 + 15 * 3600

/** How one provider's wire answers. */
export type Reply = { status: number; headers?: Record<string, string>; body: string }

export type Speech = {
  wire: Wire
  /** Whether a request path is this wire's. */
  hears(path: string): boolean
  /** Titles, routers and counts that a CLI asks for beside the turn; answered without the script. */
  side(path: string, body: any): Reply | undefined
  say(answer: Extract<Answer, { text?: string } | { refusal: string }>, asked: Asked): Reply
  /** The first part of an answer, as it stands on the wire before it breaks. */
  half(text: string, asked: Asked): string
  trouble: Partial<Record<Trouble, Reply>>
}

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const stream = (body: string): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body,
})
