import type {
  ClientApp,
  ClientCapabilities,
  CreateElicitationRequest,
  CreateElicitationResponse,
  ReadTextFileRequest,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk'
import type { AcpFacts } from '../../core/profile/profile.ts'
import type { Calls } from './acp-calls.ts'
import type { Rules } from './acp-rules.ts'
import type { Sdk } from './acp-connection.ts'
import type { UpdateReader } from './acp-updates.ts'
import type { Terminals } from './acp-terminals.ts'
import type { Question } from '../../core/talk/question.ts'
import { answerPermission } from './acp-permission.ts'
import { Refusal, forbid, mustAgree, realPathInside, isInGitFolder } from './acp-rules.ts'
import { constants } from 'node:fs'
import { basename, dirname } from 'node:path'
import { HeldFolder, openReal } from '../../base/files/held-folder.ts'
import { defined } from '../../base/defined.ts'
import { isMissing } from '../../base/files/files.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The parts of a turn that answer the agent's requests. */
export type ClientParts = {
  rules: Rules
  calls: Calls
  telling: UpdateReader
  terminals: Terminals
  /** Fetches the text typed during the turn. */
  steer(): Promise<string[]>
}

/** The services that we offer to an agent, all limited by the rules of its turn. */
export function capabilitiesFor(facts: AcpFacts | undefined): ClientCapabilities {
  return {
    fs: { readTextFile: facts?.readsItself !== true, writeTextFile: true },
    terminal: true,
    elicitation: { form: {} },
  }
}

const notAllowed = -32603

/**
 * Our side of the protocol: answers every request of the agent under the rules of the current turn. Between two turns every request is
 * refused.
 */
export function clientApp(
  sdk: Sdk,
  steering: AcpFacts['steering'],
  servedTurn: () => ClientParts | undefined,
): ClientApp {
  const { client, methods, RequestError } = sdk
  const { session, fs, terminal, elicitation } = methods.client

  /** Sends a refusal to the agent as an error with its message. */
  const inWords = async <T>(work: (turn: ClientParts) => T | Promise<T>): Promise<T> => {
    try {
      return await work(servedTurn() ?? refuseBetweenTurns())
    } catch (error) {
      throw error instanceof Refusal ? new RequestError(notAllowed, error.message) : error
    }
  }

  const app = client({ name: 'termaite' })
    .onRequest(session.requestPermission, ({ params, signal }) =>
      inWords(async ({ telling, calls, rules }) => {
        await telling.pause()
        const call = await calls.asked(params.toolCall)
        const { response, allowed } = await answerPermission(params, call, rules, signal)
        if (!allowed) await calls.refuse(call.id)
        const { outcome } = response
        const picked = 'optionId' in outcome && params.options.find(({ optionId }) => optionId === outcome.optionId)
        if (picked && picked.kind === 'allow_always') rules.allowed.agentKeepsOne = true
        return response
      }),
    )
    .onRequest(fs.readTextFile, ({ params }) =>
      inWords(async ({ rules }) => {
        const content = await readFile(params, rules)
        if (content === undefined) throw RequestError.resourceNotFound(params.path)
        return { content }
      }),
    )
    .onRequest(fs.writeTextFile, ({ params, signal }) => inWords(({ rules }) => writeFile(params, rules, signal)))
    .onRequest(terminal.create, ({ params, signal }) =>
      inWords(async ({ terminals }) => ({ terminalId: await terminals.create(params, signal) })),
    )
    .onRequest(terminal.output, ({ params }) => inWords(({ terminals }) => terminals.output(params.terminalId)))
    .onRequest(terminal.waitForExit, ({ params }) => inWords(({ terminals }) => terminals.wait(params.terminalId)))
    .onRequest(terminal.kill, ({ params }) => inWords(({ terminals }) => terminals.kill(params.terminalId)))
    .onRequest(terminal.release, ({ params }) => inWords(({ terminals }) => terminals.release(params.terminalId)))
    .onRequest(elicitation.create, ({ params, signal }) => inWords(({ rules }) => elicit(params, rules, signal)))
  if (!steering) return app
  const { method, answer } = steering
  return app.onRequest(
    method,
    (params: unknown) => params,
    async () => answer((await servedTurn()?.steer()) ?? []),
  )
}

function refuseBetweenTurns(): never {
  throw new Refusal('The turn is over: nothing is read, written, run or asked until the next prompt.')
}

type Field = {
  type?: string
  title?: string | null
  description?: string | null
  enum?: string[]
  oneOf?: { const: string; title: string }[]
  items?: { enum?: string[]; anyOf?: { const: string; title: string }[] }
}

/** Fills in a form for an agent, with one card for each field; declines a form that cannot be shown. */
async function elicit(
  request: CreateElicitationRequest,
  rules: Rules,
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  if (request.mode !== 'form') return { action: 'decline' }
  const { properties = {} } = (request as { requestedSchema: { properties?: Record<string, Field> } }).requestedSchema
  const withdrawn = AbortSignal.any([rules.over, signal])
  const content: Record<string, string | number | boolean | string[]> = {}
  for (const [key, field] of Object.entries(properties)) {
    const picks = await rules.ask(questionOf(request.message, field), withdrawn)
    const value = picks && valueOf(field, picks)
    if (value === undefined) return { action: 'cancel' }
    content[key] = value
  }
  return { action: 'accept', content }
}

function questionOf(message: string, field: Field): Question {
  const options = choicesOf(field)
  const label = field.description ?? field.title
  return defined<Question>({
    about: 'choice',
    text: label ? `${message}\n${label}` : message,
    from: [],
    multiple: field.type === 'array' || undefined,
    free: options.length === 0 || undefined,
    options,
    unanswered: 'fill in nothing',
  })
}

function choicesOf({ type, enum: words, oneOf, items }: Field): Question['options'] {
  if (type === 'boolean')
    return consentOptions({ once: { id: 'true', label: 'Yes' }, no: { id: 'false', label: 'No' } })
  const titled = oneOf ?? items?.anyOf
  if (titled) return titled.map(({ const: id, title: label }) => ({ id, label }))
  return (words ?? items?.enum ?? []).map((id) => ({ id, label: id }))
}

function valueOf({ type }: Field, picks: string[]): string | number | boolean | string[] | undefined {
  const [first] = picks
  if (type === 'array') return picks
  if (first === undefined) return undefined
  if (type === 'boolean') return first === 'true'
  if (type !== 'number' && type !== 'integer') return first
  const number = Number(first)
  return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined
}

/** An agent can read longer files in parts, with its own tools. */
const longestFile = 16 * 1024 * 1024

/** Reads a file of the project from the disk; undefined if it does not exist. */
async function readFile({ path, line, limit }: ReadTextFileRequest, rules: Rules): Promise<string | undefined> {
  const text = await textAt(await within(path, 'reading', rules))
  if (text === undefined || (line == null && limit == null)) return text
  const from = Math.max(0, (line ?? 1) - 1)
  const lines = text.split(/(?<=\n)/)
  return lines.slice(from, limit == null ? undefined : from + limit).join('')
}

/** Writes a file of the project if the leash allows it; a change that the person already saw is not shown again. */
async function writeFile({ path, content }: WriteTextFileRequest, rules: Rules, signal: AbortSignal) {
  const real = await within(path, 'writing', rules)
  const short = shortPath(real, rules.cwd)
  const what = `writing ${short}`
  if (rules.leash === 'read') forbid(rules, what, 'this agent may only read')
  const edits = rules.leash === 'edit' || rules.allowed.hasEdits
  const free = rules.leash === 'all' || (edits && !isInGitFolder(rules.root, real))
  if (!free && !rules.allowed.takeWrite(real, content)) {
    const before = await textAt(real)
    const shown = defined({ type: 'diff' as const, path: short, before, after: content })
    await mustAgree(rules, what, { text: `Write ${short}`, shows: [shown] }, signal)
  }
  // `real` contains no link, and `HeldFolder` does not follow a link that was put into the path meanwhile.
  const folder = HeldFolder.make(dirname(real))
  try {
    const file = await folder.openFile(basename(real), constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
    try {
      await file.writeFile(content)
    } finally {
      await file.close()
    }
  } finally {
    folder.close()
  }
}

async function within(path: string, doing: string, rules: Rules): Promise<string> {
  const real = await realPathInside([rules.root, ...rules.added], path)
  return real ?? forbid(rules, `${doing} ${path}`, `it is not a file in ${rules.root}`)
}

async function textAt(real: string): Promise<string | undefined> {
  const file = await openReal(real).catch((error) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new Refusal(`${real} is not a file.`)
    if (found.size > longestFile) throw new Refusal(`${real} is longer than ${longestFile} bytes.`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
